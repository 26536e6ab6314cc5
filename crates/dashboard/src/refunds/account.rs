//! The fields for the bank account that money goes to.

use domain::{
    destination::{AccountNumber, DestinationRequest, HOLDER, TransferBank},
    money::Rupiah,
};
use i18n_embed_fl::fl;
use web::page::form::Form;

use crate::{input::text_mistake, words::Words};

pub(crate) const BANK: &str = "bank";
pub(crate) const NUMBER: &str = "account_number";
pub(crate) const HOLDER_NAME: &str = "account_name";

/// One bank to choose.
pub(crate) struct BankChoice {
    pub(crate) value: String,
    pub(crate) label: String,
    pub(crate) chosen: bool,
}

/// What was typed, and what is wrong with it.
pub(crate) struct TypedAccount {
    pub(crate) banks: Vec<BankChoice>,
    pub(crate) number: String,
    pub(crate) holder: String,
    pub(crate) bank_mistake: Option<String>,
    pub(crate) number_mistake: Option<String>,
    pub(crate) holder_mistake: Option<String>,
}

impl TypedAccount {
    /// Fields that nobody has filled in.
    pub(crate) fn empty() -> TypedAccount {
        TypedAccount::with(String::new(), String::new(), String::new())
    }

    /// What a form brought, without a word about what is wrong with it.
    pub(crate) fn unchecked(form: &Form) -> TypedAccount {
        let text = |name: &str| form.text(name).unwrap_or_default().trim().to_owned();
        TypedAccount::with(text(BANK), text(NUMBER), text(HOLDER_NAME))
    }

    fn with(bank: String, number: String, holder: String) -> TypedAccount {
        let choice = |known: &TransferBank| BankChoice {
            value: known.code.to_owned(),
            label: known.name.to_owned(),
            chosen: known.code == bank,
        };
        TypedAccount {
            banks: TransferBank::ALL.iter().map(choice).collect(),
            number,
            holder,
            bank_mistake: None,
            number_mistake: None,
            holder_mistake: None,
        }
    }

    /// What a form brought for a transfer of `amount`: the account, or the fields with what is wrong.
    pub(crate) fn read(words: Words, form: &Form, amount: Rupiah) -> Result<DestinationRequest, Box<TypedAccount>> {
        let mut typed = TypedAccount::unchecked(form);
        let bank = form.text(BANK).and_then(TransferBank::from_code);
        typed.bank_mistake = match bank {
            None => Some(fl!(words, "mistake-choice")),
            Some(bank) => (!bank.is_reached_by(amount)).then(|| fl!(words, "refund-bank-unreached")),
        };
        typed.number_mistake = AccountNumber::parse(&typed.number).is_err().then(|| fl!(words, "refund-number-wrong"));
        typed.holder_mistake = (!typed.holder.is_empty()).then(|| text_mistake(words, HOLDER, &typed.holder)).flatten();
        let is_right = [&typed.bank_mistake, &typed.number_mistake, &typed.holder_mistake];
        match bank.filter(|_| is_right.iter().all(|mistake| mistake.is_none())) {
            Some(bank) => Ok(DestinationRequest {
                bank: Some(bank.code.to_owned()),
                account_number: Some(typed.number),
                account_name: Some(typed.holder).filter(|holder| !holder.is_empty()),
            }),
            None => Err(Box::new(typed)),
        }
    }
}
