//! Reports (35): what the bank has taken for us within an hour of a day.

use std::time::Duration;

use domain::time::{DAY, HOUR, Timestamp, WIB};
use serde_json::{Map, Value};

use super::{http::SnapClient, message::with, signed::CallContext};
use crate::snap::{
    call_error::{CallError, Cause, Reason},
    codes::ReportLine,
    parameters::Parameters,
    reading::first_amount,
    standing::{va_about, va_money},
    timestamp::format_timestamp,
    values::{Precision, Service},
};

pub(super) const HOURS: u8 = 24;
const DATE_CHARACTERS: usize = 10;

impl SnapClient {
    /// The transactions of one hour, 0 to 23, of a day in Jakarta that is counted from 1970. A day is asked for in 24
    /// parts so that none grows without limit. A line that cannot be read makes the whole part unknown: a transaction
    /// that is left out would look like one that the bank does not have.
    pub async fn report(
        &self,
        context: &CallContext<'_>,
        jakarta_day: i64,
        hour: u8,
    ) -> Result<Vec<ReportLine>, CallError> {
        let answer = self.call(context, Service::Report, &request(context.parameters, jakarta_day, hour)).await?;
        if (answer.status, answer.case().as_deref()) == (404, Some("01")) {
            return Ok(Vec::new());
        }
        read_report(context.parameters, &answer.success()?)
    }
}

fn request(parameters: &Parameters, jakarta_day: i64, hour: u8) -> Value {
    let days = DAY * u32::try_from(jakarta_day).unwrap_or_default();
    let from = Timestamp::from_millis(0).plus(days).minus(WIB).plus(HOUR * u32::from(hour % HOURS));
    let (from, until) = (written(from), written(from.plus(HOUR).minus(Duration::from_secs(1))));
    let mut body = Map::new();
    with(&mut body, "partnerServiceId", Some(&parameters.padded_service_id()));
    with(&mut body, "startDate", from.get(..DATE_CHARACTERS));
    with(&mut body, "startTime", from.get(DATE_CHARACTERS + 1..));
    with(&mut body, "endTime", until.get(DATE_CHARACTERS + 1..));
    Value::Object(body)
}

fn written(at: Timestamp) -> String {
    format_timestamp(at, Precision::Seconds)
}

pub(super) fn read_report(parameters: &Parameters, told: &Value) -> Result<Vec<ReportLine>, CallError> {
    let unreadable = |words: String| CallError::Unknown(Reason::new(Cause::Unreadable, words));
    let lines = match told.get("virtualAccountData") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(lines)) => lines.as_slice(),
        Some(one @ Value::Object(_)) => std::slice::from_ref(one),
        Some(_) => return Err(unreadable("the report has no list".to_owned())),
    };
    let line = |(index, line): (usize, &Value)| {
        let money =
            va_money(line).ok_or_else(|| unreadable(format!("line {} of the report says too little", index + 1)))?;
        Ok(ReportLine { about: va_about(parameters, line), money, fee: first_amount(line, &["feeAmount"]) })
    };
    lines.iter().enumerate().map(line).collect()
}
