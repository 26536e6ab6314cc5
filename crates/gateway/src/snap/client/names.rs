//! Whose account a destination is (15, 16 and 42), asked before money is sent there.

use domain::destination::Rail;
use serde_json::{Map, Value};

use super::{
    http::SnapClient,
    message::{amount, with, with_info},
    orders::{Said, Told},
    signed::CallContext,
    transfer::bank_code,
};
use crate::snap::{
    call_error::{CallError, Cause, Reason},
    money_out::{NameAsked, NameTold},
    parameters::Parameters,
    rails::RailServices,
    reading::line,
    values::WalletDetails,
};

/// As long as a name can be on the page that shows it.
const NAME_CHARACTERS_MOST: usize = 100;
const NAME: &str = "beneficiaryAccountName";

impl SnapClient {
    /// The name of the account's owner, as the account's bank has it.
    pub async fn beneficiary_name(
        &self,
        context: &CallContext<'_>,
        asked: &NameAsked<'_>,
    ) -> Result<NameTold, CallError> {
        let services = RailServices::of(asked.rail);
        let answer = self.call(context, services.inquiry, &question(context.parameters, asked)?).await?;
        if let (403, Some("03" | "05" | "09" | "18")) | (404, Some("11")) = (answer.status, answer.case().as_deref()) {
            return Ok(NameTold::NoAccount { code: answer.code() });
        }
        name(&answer.success()?, asked)
    }
}

fn question(parameters: &Parameters, asked: &NameAsked<'_>) -> Result<Value, CallError> {
    let mut body = Map::new();
    with(&mut body, "partnerReferenceNo", Some(asked.reference));
    match asked.rail {
        Rail::Intrabank => with(&mut body, "beneficiaryAccountNo", Some(asked.number)),
        Rail::BiFast | Rail::Online | Rail::Skn | Rail::Rtgs => {
            with(&mut body, "beneficiaryAccountNo", Some(asked.number));
            with(&mut body, "beneficiaryBankCode", Some(bank_code(parameters, asked.bank)?));
            parameters.transfers.inquiry_info.add_to(&mut body);
        }
        Rail::Wallet => {
            with(&mut body, "customerNumber", parameters.transfers.source_account.as_deref());
            with(&mut body, "beneficiaryAccountNumber", Some(asked.number));
            body.insert("amount".to_owned(), amount(asked.amount));
            parameters.transfers.wallet_info.add_to(&mut body);
            let bank = bank_code(parameters, asked.bank)?;
            match parameters.transfers.wallet_details {
                WalletDetails::Outside => with(&mut body, "beneficiaryBankCode", Some(bank)),
                WalletDetails::AdditionalInfo => with_info(&mut body, "beneficiaryBankCode", bank),
            }
        }
    }
    Ok(Value::Object(body))
}

fn name(told: &Value, asked: &NameAsked<'_>) -> Result<NameTold, CallError> {
    let unreadable = |words: &str| CallError::Unknown(Reason::new(Cause::Unreadable, words));
    let said = Said {
        reference: (&["partnerReferenceNo"], asked.reference),
        amount: (&[], asked.amount),
        number: Some((&["beneficiaryAccountNo", "beneficiaryAccountNumber"], asked.number)),
    };
    if [said.reference_told(told), said.number_told(told)].contains(&Told::Other) {
        return Err(unreadable("the answer is about another account"));
    }
    let name = line(told, NAME, NAME_CHARACTERS_MOST);
    match name.trim() {
        "" => Err(unreadable("the answer has no beneficiaryAccountName")),
        name => Ok(NameTold::Named(name.to_owned())),
    }
}
