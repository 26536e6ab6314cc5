//! Reading the members of a bank's message, loosely: texts may come as bare numbers, `null` is as good as absent, and what
//! is not known is ignored. A missing member is reported before a malformed one.

use domain::{money::Rupiah, time::Timestamp};
use gateway::snap::{Parameters, parse_local_timestamp};
use serde_json::{Map, Value};

use crate::answer::Refusal;

const RUPIAH: &str = "IDR";

/// The members of a message, and the code for one of them that is malformed.
pub(crate) struct Members<'a> {
    members: Map<String, Value>,
    parameters: &'a Parameters,
}

/// The number that a message is about.
pub(crate) struct Number {
    /// All of it, without padding.
    pub(crate) whole: String,
    /// The three members as they came, to be echoed.
    pub(crate) echoed: Map<String, Value>,
}

impl<'a> Members<'a> {
    pub(crate) fn read(body: &[u8], parameters: &'a Parameters) -> Result<Members<'a>, Refusal> {
        match serde_json::from_slice(body) {
            Ok(Value::Object(members)) => Ok(Members { members, parameters }),
            Ok(_) | Err(_) => Err(Refusal::BadRequest("Invalid JSON")),
        }
    }

    fn get(&self, name: &str) -> Option<&Value> {
        self.members.get(name).filter(|value| !value.is_null() && value.as_str() != Some(""))
    }

    pub(crate) fn malformed(&self, name: &str) -> Refusal {
        Refusal::Malformed(name.to_owned(), self.parameters.bad_data)
    }

    /// Reports the first of these that is missing.
    pub(crate) fn require(&self, names: &[&str]) -> Result<(), Refusal> {
        match names.iter().find(|name| self.get(name).is_none()) {
            Some(name) => Err(Refusal::Missing((*name).to_owned())),
            None => Ok(()),
        }
    }

    /// A text; a bare number counts as one.
    pub(crate) fn text(&self, name: &str) -> Result<String, Refusal> {
        match self.get(name) {
            Some(Value::String(text)) => Ok(text.clone()),
            Some(Value::Number(number)) => Ok(number.to_string()),
            Some(_) => Err(self.malformed(name)),
            None => Err(Refusal::Missing(name.to_owned())),
        }
    }

    pub(crate) fn request_id(&self, name: &str) -> Result<String, Refusal> {
        let id = self.text(name)?;
        let is_short = id.chars().count() <= self.parameters.request_id_max;
        let is_plain = id.chars().all(|c| c.is_ascii_graphic() || c == ' ');
        if is_short && is_plain { Ok(id) } else { Err(self.malformed(name)) }
    }

    /// The number, by its three members, which must agree.
    pub(crate) fn number(&self) -> Result<Number, Refusal> {
        let (service_id, customer_no, whole) =
            (self.text("partnerServiceId")?, self.text("customerNo")?, self.text("virtualAccountNo")?);
        let read = self.parameters.read_number(&service_id, &customer_no, &whole);
        let whole = read.map_err(|name| self.malformed(name))?;
        Ok(Number { whole, echoed: self.echo(&["partnerServiceId", "customerNo", "virtualAccountNo"]) })
    }

    /// An amount in rupiah: `{"value": "10000.00", "currency": "IDR"}`. The parts of a rupiah are not used any more; an
    /// amount that has some fits no bill.
    pub(crate) fn amount(&self, name: &str) -> Result<Rupiah, Refusal> {
        let amount = self.get(name).ok_or_else(|| Refusal::Missing(name.to_owned()))?;
        let part = |part: &str| {
            let value = amount.get(part).filter(|value| !value.is_null());
            let missing = || Refusal::Missing(format!("{name}.{part}"));
            match value.ok_or_else(missing)? {
                Value::String(text) => Ok(text.clone()),
                Value::Number(number) => Ok(number.to_string()),
                _ => Err(self.malformed(&format!("{name}.{part}"))),
            }
        };
        if !amount.is_object() {
            return Err(self.malformed(name));
        }
        let (value, currency) = (part("value")?, part("currency")?);
        if currency != RUPIAH {
            return Err(self.malformed(&format!("{name}.currency")));
        }
        read_rupiah(&value).ok_or_else(|| self.malformed(&format!("{name}.value")))
    }

    /// An amount that need not be there. Some banks write it with nothing inside.
    pub(crate) fn amount_if_any(&self, name: &str) -> Result<Option<Rupiah>, Refusal> {
        let is_empty = |amount: &Value| {
            let is_nothing = |part: &Value| part.is_null() || part.as_str() == Some("");
            amount.as_object().is_some_and(|parts| parts.values().all(is_nothing))
        };
        match self.get(name) {
            Some(amount) if !is_empty(amount) => self.amount(name).map(Some),
            _ => Ok(None),
        }
    }

    /// A time that need not be there; without a zone it is Jakarta's.
    pub(crate) fn time_if_any(&self, name: &str) -> Result<Option<Timestamp>, Refusal> {
        match self.get(name) {
            Some(_) => parse_local_timestamp(&self.text(name)?).map(Some).ok_or_else(|| self.malformed(name)),
            None => Ok(None),
        }
    }

    /// A text that must be one of these if it is there.
    pub(crate) fn one_of_if_any(&self, name: &str, allowed: &[&str]) -> Result<(), Refusal> {
        match self.get(name) {
            Some(_) if !allowed.contains(&self.text(name)?.as_str()) => Err(self.malformed(name)),
            _ => Ok(()),
        }
    }

    /// These members as they came; those that are missing are left out.
    pub(crate) fn echo(&self, names: &[&str]) -> Map<String, Value> {
        names.iter().filter_map(|name| Some(((*name).to_owned(), self.members.get(*name)?.clone()))).collect()
    }
}

/// Whole rupiah, with or without decimals, which must be zero; at most what a payment can be of.
fn read_rupiah(text: &str) -> Option<Rupiah> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let is_digits =
        |part: &str, most: usize| (1..=most).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
    if !is_digits(whole, 16) || !is_digits(decimals, 2) || decimals.bytes().any(|byte| byte != b'0') {
        return None;
    }
    let amount = Rupiah::new(whole.parse().ok()?);
    (amount > Rupiah::ZERO && amount <= Rupiah::MAX).then_some(amount)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_whole_rupiah_however_they_are_written() {
        for (text, amount) in [
            ("10000.00", 10_000),
            ("10000", 10_000),
            ("10000.0", 10_000),
            ("1", 1),
            ("999999999999.00", 999_999_999_999),
        ] {
            assert_eq!(read_rupiah(text), Some(Rupiah::new(amount)), "{text}");
        }
        for text in [
            "",
            "0",
            "0.00",
            "-10000.00",
            "+1",
            "10000.50",
            "10000.000",
            "10,000",
            "1e4",
            ".5",
            "1.",
            "1000000000000",
            "9999999999999999",
            "99999999999999999",
        ] {
            assert_eq!(read_rupiah(text), None, "{text}");
        }
    }
}
