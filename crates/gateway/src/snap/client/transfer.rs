//! Transfers to bank accounts (17, 18, 22, 23 and 43), and what became of them (36, or what a wallet has for it).

use domain::destination::Rail;
use serde_json::{Map, Value};

use super::{
    http::SnapClient,
    message::{amount, plain_text, with, with_info},
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
    values::{Precision, WalletDetails},
    verdict::OrderKind,
};

const CURRENCY: &str = "IDR";
const STATUS: &str = "latestTransactionStatus";
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
        let service = RailServices::of(order.rail).transfer;
        let kind = OrderKind::Transfer;
        self.order(context, Outgoing { kind, service, body, said, bank_reference: BANK_REFERENCES, is_first }).await
    }

    /// Asks what became of a transfer. "Not found" is no proof before the profile's `not_found_after`.
    pub async fn transfer_standing(
        &self,
        context: &CallContext<'_>,
        asked: &TransferAsked<'_>,
    ) -> Result<OrderStanding, CallError> {
        let services = RailServices::of(asked.rail);
        let answer = self.call(context, services.status, &question(asked, services)).await?;
        match (answer.status, answer.case().as_deref()) {
            (202, _) => return Ok(OrderStanding::AskAgain),
            (404, Some("01")) => return Ok(OrderStanding::NotFound),
            _ => {}
        }
        let told = answer.success()?;
        let said = said_of(asked);
        if said.reference_told(&told) == Told::Other {
            return Err(unreadable("the answer is about another reference"));
        }
        standing(&told, &said).ok_or_else(|| unreadable("the answer has no latestTransactionStatus"))
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
    transfers.info(order.rail).add_to(&mut body);
    if order.rail == Rail::Wallet {
        with(&mut body, "customerNumber", Some(source));
        with(&mut body, "beneficiaryAccountNumber", Some(order.to.number));
        with(&mut body, "beneficiaryBankCode", Some(bank));
        match transfers.wallet_details {
            WalletDetails::Outside => with(&mut body, "beneficiaryAccountName", Some(&name)),
            WalletDetails::AdditionalInfo => with_info(&mut body, "beneficiaryAccountName", &name),
        }
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
        if matches!(order.rail, Rail::Skn | Rail::Rtgs) {
            with(&mut body, "beneficiaryCustomerResidence", Some(transfers.beneficiary_residence.word()));
            with(&mut body, "beneficiaryCustomerType", Some(transfers.beneficiary_kind.word()));
        }
    }
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
    let name = parameters.transfers.name_of(bank);
    name.ok_or_else(|| CallError::refused("no_swift", "the bank has no known SWIFT code"))
}

fn unreadable(words: &str) -> CallError {
    CallError::Unknown(Reason::new(Cause::Unreadable, words))
}

fn question(asked: &TransferAsked<'_>, services: RailServices) -> Value {
    let service = if asked.rail == Rail::Wallet { services.status } else { services.transfer };
    let mut body = Map::new();
    with(&mut body, "originalPartnerReferenceNo", Some(asked.reference));
    with(&mut body, "originalReferenceNo", asked.bank_reference);
    with(&mut body, "originalExternalId", Some(asked.external_id));
    with(&mut body, "serviceCode", Some(service.code()));
    // Wallets have no such members.
    if asked.rail != Rail::Wallet {
        with(&mut body, "transactionDate", Some(&format_timestamp(asked.ordered_at, Precision::Seconds)));
        body.insert("amount".to_owned(), amount(asked.amount));
    }
    Value::Object(body)
}

fn said_of<'a>(asked: &TransferAsked<'a>) -> Said<'a> {
    Said {
        reference: (ORIGINAL_REFERENCES, asked.reference),
        amount: (AMOUNTS, asked.amount),
        number: Some((NUMBERS, asked.number)),
    }
}

/// What is said about a transfer; none where there is no status.
fn standing(told: &Value, said: &Said<'_>) -> Option<OrderStanding> {
    let status = id(told, STATUS)?;
    let shown = match (said.amount_told(told), said.number_told(told)) {
        (Told::Other, _) | (_, Told::Other) => None,
        (Told::Same, Told::Same) => Some(Shown::Both),
        (Told::Same | Told::Nothing, Told::Same | Told::Nothing) => Some(Shown::Less),
    };
    Some(match (status.as_str(), shown) {
        ("00", Some(shown)) => OrderStanding::Done { bank_reference: first_id(told, ORIGINAL_BANK_REFERENCES), shown },
        ("00" | "04", None) => OrderStanding::Differs,
        ("04", Some(_)) => OrderStanding::Returned,
        ("01" | "02" | "03", _) => OrderStanding::Waiting,
        ("05" | "06", _) => OrderStanding::NotDone,
        ("07", _) => OrderStanding::NotFound,
        _ => OrderStanding::AskAgain,
    })
}

/// What a bank tells of a transfer by itself (75, 76).
#[derive(Clone, Debug, PartialEq)]
pub struct TransferNotice {
    /// What we have called it.
    pub reference: String,
    told: Value,
}

impl TransferNotice {
    /// None where it names no transfer or says nothing of it: the name of the member that is missing.
    pub fn read(told: Value) -> Result<TransferNotice, &'static str> {
        let reference = first_id(&told, ORIGINAL_REFERENCES).ok_or(ORIGINAL_REFERENCES[0])?;
        id(&told, STATUS).ok_or(STATUS)?;
        Ok(TransferNotice { reference, told })
    }

    /// What it says about the transfer that it names. A notice that shows another amount or account differs, whatever else it
    /// says, and one that shows no amount only makes us ask.
    pub fn standing(&self, asked: &TransferAsked<'_>) -> OrderStanding {
        let said = said_of(asked);
        match (said.amount_told(&self.told), said.number_told(&self.told)) {
            (Told::Other, _) | (_, Told::Other) => OrderStanding::Differs,
            (Told::Nothing, _) => OrderStanding::AskAgain,
            (Told::Same, Told::Same | Told::Nothing) => standing(&self.told, &said).unwrap_or(OrderStanding::AskAgain),
        }
    }
}
