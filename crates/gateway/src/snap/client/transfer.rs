//! Transfers to bank accounts (17, 18 and 43), and what became of them (36, or what a wallet has for it).

use domain::destination::Rail;
use serde_json::{Map, Value};

use super::{
    http::SnapClient,
    message::{amount, plain_text, with},
    orders::{Outgoing, Said, Told, not_sent},
    signed::CallContext,
};
use crate::snap::{
    call_error::{CallError, Cause, Reason},
    money_out::{BankNamed, OrderSent, OrderStanding, Shown, TransferAsked, TransferOrder},
    parameters::Parameters,
    rails::RailServices,
    reading::{first_id, id},
    timestamp::format_timestamp,
    values::{BankCodes, Precision},
    verdict::OrderKind,
};

const CURRENCY: &str = "IDR";
const NAME_CHARACTERS_MOST: usize = 100;
const NO_NAME: &str = "PENERIMA";
const REFERENCES: &[&str] = &["partnerReferenceNo"];
const ORIGINAL_REFERENCES: &[&str] = &["originalPartnerReferenceNo"];
const AMOUNTS: &[&str] = &["amount"];
const NUMBERS: &[&str] = &["beneficiaryAccountNo", "beneficiaryAccountNumber"];
const BANK_REFERENCES: &[&str] = &["referenceNo"];
const ORIGINAL_BANK_REFERENCES: &[&str] = &["originalReferenceNo", "referenceNo"];

impl SnapClient {
    /// Orders a transfer. The caller has stored that it is sent; it is sent once. `is_first` is false where the same
    /// reference was sent before, as the profile's `resend` allows.
    pub async fn transfer(&self, context: &CallContext<'_>, order: &TransferOrder<'_>, is_first: bool) -> OrderSent {
        let body = match transfer(context.parameters, order) {
            Ok(body) => body,
            Err(error) => return not_sent(error),
        };
        let said = Said {
            reference: (REFERENCES, order.reference),
            amount: (AMOUNTS, order.amount),
            number: Some((NUMBERS, order.to.number)),
        };
        let Some(RailServices { transfer: service, .. }) = RailServices::of(order.rail) else {
            return not_sent(no_rail());
        };
        let kind = OrderKind::Transfer;
        self.order(context, Outgoing { kind, service, body, said, bank_reference: BANK_REFERENCES, is_first }).await
    }

    /// Asks what became of a transfer. "Not found" is no proof before the profile's `not_found_after`.
    pub async fn transfer_standing(
        &self,
        context: &CallContext<'_>,
        asked: &TransferAsked<'_>,
    ) -> Result<OrderStanding, CallError> {
        let services = RailServices::of(asked.rail).ok_or_else(no_rail)?;
        let answer = self.call(context, services.status, &question(asked, services)).await?;
        match (answer.status, answer.case().as_deref()) {
            (202, _) => return Ok(OrderStanding::AskAgain),
            (404, Some("01")) => return Ok(OrderStanding::NotFound),
            _ => {}
        }
        standing(&answer.success()?, asked)
    }
}

fn transfer(parameters: &Parameters, order: &TransferOrder<'_>) -> Result<Value, CallError> {
    let transfers = &parameters.transfers;
    let source =
        transfers.source_account.as_deref().ok_or_else(|| CallError::setting("`source_account` must be set"))?;
    let mut body = Map::new();
    with(&mut body, "partnerReferenceNo", Some(order.reference));
    body.insert("amount".to_owned(), amount(order.amount));
    let name = plain_text(order.to.name, NAME_CHARACTERS_MOST, NO_NAME);
    let bank = bank_code(parameters, order.to.bank)?;
    if order.rail == Rail::Wallet {
        with(&mut body, "customerNumber", Some(source));
        with(&mut body, "beneficiaryAccountNumber", Some(order.to.number));
        with(&mut body, "beneficiaryAccountName", Some(&name));
        with(&mut body, "beneficiaryBankCode", Some(bank));
    } else {
        with(&mut body, "sourceAccountNo", Some(source));
        with(&mut body, "beneficiaryAccountNo", Some(order.to.number));
        with(&mut body, "currency", Some(CURRENCY));
        with(&mut body, "customerReference", Some(order.reference));
        with(&mut body, "feeType", transfers.fee_type.as_deref());
        with(&mut body, "remark", Some(&remark(parameters, order)));
        with(&mut body, "transactionDate", Some(&format_timestamp(order.ordered_at, Precision::Seconds)));
        if order.rail != Rail::Intrabank {
            with(&mut body, "beneficiaryAccountName", Some(&name));
            with(&mut body, "beneficiaryBankCode", Some(bank));
        }
    }
    transfers.info(order.rail).add_to(&mut body);
    Ok(Value::Object(body))
}

/// What stands on the statements: the reference first, since by it the transfer is found there.
fn remark(parameters: &Parameters, order: &TransferOrder<'_>) -> String {
    let letters = |character: char| if character.is_ascii_alphanumeric() { character } else { ' ' };
    let words: String = plain_text(order.remark, parameters.transfers.remark_max, "").chars().map(letters).collect();
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut remark = format!("{} {words}", order.reference);
    remark.truncate(parameters.transfers.remark_max);
    remark.trim_end().to_owned()
}

/// A bank as this one wants it to be named.
pub(super) fn bank_code<'a>(parameters: &Parameters, bank: BankNamed<'a>) -> Result<&'a str, CallError> {
    match parameters.transfers.bank_codes {
        BankCodes::Swift => {
            bank.swift.ok_or_else(|| CallError::refused("no_swift", "the bank has no known SWIFT code"))
        }
        BankCodes::ThreeDigits => Ok(bank.three_digits),
    }
}

/// We transfer by no such rail.
pub(super) fn no_rail() -> CallError {
    CallError::refused("no_rail", "there are no transfers by this rail")
}

fn question(asked: &TransferAsked<'_>, services: RailServices) -> Value {
    let service = if asked.rail == Rail::Wallet { services.status } else { services.transfer };
    let mut body = Map::new();
    with(&mut body, "originalPartnerReferenceNo", Some(asked.reference));
    with(&mut body, "originalReferenceNo", asked.bank_reference);
    with(&mut body, "originalExternalId", Some(asked.external_id));
    with(&mut body, "serviceCode", Some(service.code()));
    with(&mut body, "transactionDate", Some(&format_timestamp(asked.ordered_at, Precision::Seconds)));
    body.insert("amount".to_owned(), amount(asked.amount));
    Value::Object(body)
}

fn standing(told: &Value, asked: &TransferAsked<'_>) -> Result<OrderStanding, CallError> {
    let said = Said {
        reference: (ORIGINAL_REFERENCES, asked.reference),
        amount: (AMOUNTS, asked.amount),
        number: Some((NUMBERS, asked.number)),
    };
    let unreadable = |words: &str| CallError::Unknown(Reason::new(Cause::Unreadable, words));
    if said.reference_told(told) == Told::Other {
        return Err(unreadable("the answer is about another reference"));
    }
    let status = id(told, "latestTransactionStatus");
    let status = status.ok_or_else(|| unreadable("the answer has no latestTransactionStatus"))?;
    let shown = match (said.amount_told(told), said.number_told(told)) {
        (Told::Other, _) | (_, Told::Other) => None,
        (Told::Same, Told::Same) => Some(Shown::Both),
        (Told::Same | Told::Nothing, Told::Same | Told::Nothing) => Some(Shown::Less),
    };
    Ok(match (status.as_str(), shown) {
        ("00", Some(shown)) => OrderStanding::Done { bank_reference: first_id(told, ORIGINAL_BANK_REFERENCES), shown },
        ("00" | "04", None) => OrderStanding::Differs,
        ("04", Some(_)) => OrderStanding::Returned,
        ("01" | "02" | "03", _) => OrderStanding::Waiting,
        ("05" | "06", _) => OrderStanding::NotDone,
        ("07", _) => OrderStanding::NotFound,
        _ => OrderStanding::AskAgain,
    })
}
