//! Questions about transfers: 36 at a bank; 53, or a service without a number, at a non-bank.

use serde_json::{Value, json};

use super::{
    inquiries::fill,
    money_habits::{StatusKey, UnknownTransfer},
    transfers::{Kind, Transfer, TransferState},
};
use crate::{
    journal::held,
    notification::status_words,
    prepared::Service,
    services::{
        bank::{BankServices, Member},
        request::{Reply, ServiceRequest, money},
    },
    time,
};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// What a question says.
struct Question<'b> {
    reference: &'b str,
    bank_reference: &'b str,
    external_id: &'b str,
    service_code: &'b str,
    date: &'b str,
}

impl BankServices {
    /// 36, 53 and 00
    pub(in crate::services) fn tell_transfer(
        &self,
        asked: &ServiceRequest<'_>,
        member: &Member,
    ) -> Result<Reply, Reply> {
        let body = asked.members()?;
        let question = question(asked, &body, member)?;
        let mut ledger = held(&self.ledger);
        ledger.advance(asked.now_ms);
        let (client_id, habits) = (&member.merchant.client_id, &member.habits.transfer);
        let transfers = &ledger.transfers;
        let found = match habits.status_key {
            StatusKey::ExternalId if asked.service == Service::TransferStatus => {
                let found = transfers.of_external_id(client_id, Kind::Transfer, question.external_id);
                found.filter(|transfer| same_day(transfer, question.date))
            }
            _ if !question.bank_reference.is_empty() => transfers.of_bank_reference(client_id, question.bank_reference),
            _ => transfers.of_reference(client_id, Kind::Transfer, question.reference),
        };
        let is_known = |transfer: &&Transfer| {
            let is_recent = asked.now_ms - transfer.at_ms <= habits.status_days * DAY_MS;
            let is_service =
                asked.service != Service::TransferStatus || transfer.service.digits() == question.service_code;
            is_recent && is_service && !transfer.is_hidden(asked.now_ms)
        };
        match found.filter(is_known) {
            Some(transfer) => Ok(asked.success(members(asked, member, transfer, &question))),
            None if habits.unknown == UnknownTransfer::Status => Ok(asked.success(json!({
                "originalPartnerReferenceNo": question.reference,
                "originalExternalId": question.external_id,
                "serviceCode": question.service_code,
                "latestTransactionStatus": "07",
                "transactionStatusDesc": status_words("07"),
                "additionalInfo": {},
            }))),
            None => Err(asked.answer(404, "01", "Transaction Not Found")),
        }
    }
}

/// Reads a question, with what is mandatory at this bank.
fn question<'b>(asked: &ServiceRequest<'_>, body: &'b Value, member: &Member) -> Result<Question<'b>, Reply> {
    let habits = &member.habits.transfer;
    let optional = |name: &str| body[name].as_str().unwrap_or_default();
    let service_code = asked.text(body, "serviceCode")?;
    let reference = optional("originalPartnerReferenceNo");
    if reference.len() > habits.short_reference_most {
        return Err(asked.malformed("originalPartnerReferenceNo"));
    }
    let bank_reference = optional("originalReferenceNo");
    let mut external_id = optional("originalExternalId");
    let mut date = optional("transactionDate");
    if asked.service != Service::TransferStatus {
        if service_code != habits.emoney_service_code {
            return Err(asked.malformed("serviceCode"));
        }
        asked.text(body, "originalPartnerReferenceNo")?;
    } else if habits.status_key == StatusKey::ExternalId {
        external_id = asked.text(body, "originalExternalId")?;
        date = asked.text(body, "transactionDate")?;
        time::parse(date).ok_or_else(|| asked.malformed("transactionDate"))?;
    } else if reference.is_empty() && bank_reference.is_empty() {
        return Err(asked.missing("originalPartnerReferenceNo"));
    }
    Ok(Question { reference, bank_reference, external_id, service_code, date })
}

/// Whether a date that was read is on the Jakarta day of a transfer.
fn same_day(transfer: &Transfer, date: &str) -> bool {
    time::parse(date).is_some_and(|at_ms| time::day(at_ms) == time::day(transfer.at_ms))
}

fn members(asked: &ServiceRequest<'_>, member: &Member, transfer: &Transfer, question: &Question<'_>) -> Value {
    let habits = &member.habits.transfer;
    let status = asked.said().unwrap_or(match transfer.state {
        TransferState::Pending => "03",
        TransferState::Returned if !habits.three_statuses => "04",
        TransferState::Done | TransferState::Returned => "00",
        TransferState::Failed | TransferState::Refused => "06",
    });
    let is_emoney = asked.service != Service::TransferStatus;
    let mut members = json!({
        "originalReferenceNo": transfer.bank_reference,
        "originalPartnerReferenceNo": transfer.reference,
        "originalExternalId": transfer.external_id,
        "serviceCode": question.service_code,
        "transactionDate": time::text(transfer.at_ms, member.habits.milliseconds),
        "amount": money(transfer.amount),
        "latestTransactionStatus": status,
        "transactionStatusDesc": status_words(status),
        "additionalInfo": {},
    });
    if is_emoney {
        members["originalResponseCode"] = transfer.code.clone().into();
        return members;
    }
    members["beneficiaryAccountNo"] = transfer.beneficiary.number.clone().into();
    members["sourceAccountNo"] = transfer.source.number.clone().into();
    members["previousResponseCode"] = transfer.code.clone().into();
    members["referenceNumber"] = transfer.bank_reference.clone().into();
    members["currency"] = "IDR".into();
    if transfer.service != Service::Intrabank {
        members["beneficiaryBankCode"] = transfer.beneficiary.bank.clone().into();
    }
    fill(member, &mut members, &["beneficiaryBankCode", "transactionId"]);
    members
}
