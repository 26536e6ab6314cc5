//! Questions about accounts: 11 tells a merchant's own balance, 15, 16 and 42 whose account a number is.

use serde_json::{Value, json};

use super::{
    banks::{BankCodes, NamedBank},
    books::{Account, AccountKey, AccountState},
    ledger::{Ledger, Refusal, refusal},
};
use crate::{
    crypto::random_digits,
    journal::held,
    services::{
        bank::{BankServices, Member},
        faults::Fault,
        request::{Reply, ServiceRequest, money},
    },
    time,
};

const ACCOUNT_NUMBER_MOST: usize = 34;
pub(super) const INVALID_ACCOUNT: Refusal = refusal(404, "11", "Invalid Account");

impl BankServices {
    /// 11
    pub(in crate::services) fn tell_balance(
        &self,
        asked: &ServiceRequest<'_>,
        member: &Member,
    ) -> Result<Reply, Reply> {
        let (body, habits) = (asked.members()?, &member.habits.transfer);
        check_reference(asked, &body, false, habits.reference_most)?;
        let number = account_number(asked, &body, "accountNo")?;
        let mut ledger = held(&self.ledger);
        ledger.advance(asked.now_ms);
        let account = own_account(&ledger, member, number).ok_or_else(|| refused(asked, &INVALID_ACCOUNT))?;
        let begins = time::day(asked.now_ms);
        let of_today = ledger.books.lines(&account.key).filter(|line| time::day(line.at_ms) == begins);
        let moved_today: i64 = of_today.map(|line| line.amount).sum();
        let info = json!({
            "balanceType": "Cash",
            "amount": money(account.balance),
            "floatAmount": money(0),
            "holdAmount": money(account.held),
            "availableBalance": money(account.available()),
            "ledgerBalance": money(account.balance - moved_today),
            "currentMultilateralLimit": money(0),
            "registrationStatusCode": "0001",
            "status": status_code(account.state),
        });
        let infos = if habits.one_account_info { info } else { json!([info]) };
        let members = json!({ "accountNo": number, "name": account.name, "accountInfos": infos });
        Ok(asked.success(with_references(asked, member, &body, members, &["bankCardToken"])))
    }

    /// 15
    pub(in crate::services) fn inquire_internal(
        &self,
        asked: &ServiceRequest<'_>,
        member: &Member,
    ) -> Result<Reply, Reply> {
        let (body, habits) = (asked.members()?, &member.habits.transfer);
        check_reference(asked, &body, habits.wants_inquiry_reference, habits.reference_most)?;
        let number = account_number(asked, &body, "beneficiaryAccountNo")?;
        let account = self.inquire(asked, &AccountKey::new(habits.home, number))?;
        let members = json!({
            "beneficiaryAccountName": name_of(asked, &account),
            "beneficiaryAccountNo": number,
            "beneficiaryAccountStatus": "Rekening aktif",
            "beneficiaryAccountType": "S",
            "currency": "IDR",
        });
        Ok(asked.success(with_references(asked, member, &body, members, &[])))
    }

    /// 16
    pub(in crate::services) fn inquire_external(
        &self,
        asked: &ServiceRequest<'_>,
        member: &Member,
    ) -> Result<Reply, Reply> {
        let (body, habits) = (asked.members()?, &member.habits.transfer);
        check_reference(asked, &body, habits.wants_inquiry_reference, habits.reference_most)?;
        let number = account_number(asked, &body, "beneficiaryAccountNo")?;
        let code = asked.text(&body, "beneficiaryBankCode")?;
        let service = &body["additionalInfo"]["inquiryService"];
        if habits.wants_transfer_type && !service.is_null() && service != "1" && service != "2" {
            return Err(asked.malformed("additionalInfo.inquiryService"));
        }
        let bank = other_bank(asked, habits.bank_codes, "beneficiaryBankCode", code, habits.home)?;
        let account = self.inquire(asked, &AccountKey::new(bank.code, number))?;
        let members = json!({
            "beneficiaryAccountName": name_of(asked, &account),
            "beneficiaryAccountNo": number,
            "beneficiaryBankCode": code,
            "beneficiaryBankName": bank.name,
            "currency": "IDR",
        });
        Ok(asked.success(with_references(asked, member, &body, members, &[])))
    }

    /// 42
    pub(in crate::services) fn inquire_bank_account(
        &self,
        asked: &ServiceRequest<'_>,
        member: &Member,
    ) -> Result<Reply, Reply> {
        let (body, habits) = (asked.members()?, &member.habits.transfer);
        check_reference(asked, &body, false, habits.reference_most)?;
        asked.text(&body, "customerNumber")?;
        let amount = asked.amount(&body, "amount")?;
        let number = account_number(asked, &body, "beneficiaryAccountNumber")?;
        check_fund_type(asked, &body, member)?;
        // The standard has no member for the bank. DANA wants it in additionalInfo; elsewhere it may stand outside too.
        let is_outside = habits.fund_type.is_none() && body["beneficiaryBankCode"].is_string();
        let name = if is_outside { "beneficiaryBankCode" } else { "additionalInfo.beneficiaryBankCode" };
        let code = asked.text(&body, name)?;
        let bank = named_bank(asked, habits.bank_codes, name, code)?;
        let account = self.inquire(asked, &AccountKey::new(bank.code, number))?;
        let members = json!({
            "accountType": "SETTLEMENT_ACCOUNT",
            "beneficiaryAccountNumber": number,
            "beneficiaryAccountName": name_of(asked, &account),
            "beneficiaryBankCode": code,
            "beneficiaryBankShortName": bank.short,
            "beneficiaryBankName": bank.name,
            "amount": money(amount),
        });
        Ok(asked.success(with_references(asked, member, &body, members, &["sessionId"])))
    }

    /// The account that an inquiry is about, if it takes money.
    fn inquire(&self, asked: &ServiceRequest<'_>, key: &AccountKey) -> Result<Account, Reply> {
        let mut ledger = held(&self.ledger);
        ledger.advance(asked.now_ms);
        taking_account(&ledger, key).map_err(|why| refused(asked, &why))
    }
}

/// The answer to an order or a question that is refused.
pub(super) fn refused(asked: &ServiceRequest<'_>, why: &Refusal) -> Reply {
    asked.answer(why.status, why.case, why.words)
}

/// An account that takes money.
pub(super) fn taking_account(ledger: &Ledger, key: &AccountKey) -> Result<Account, Refusal> {
    let account = ledger.books.account(key).ok_or(INVALID_ACCOUNT)?;
    check_state(account.state)?;
    Ok(account.clone())
}

pub(super) fn check_state(state: AccountState) -> Result<(), Refusal> {
    match state {
        AccountState::Open => Ok(()),
        AccountState::Closed => Err(refusal(403, "18", "Inactive Account")),
        AccountState::Dormant => Err(refusal(403, "09", "Dormant Account")),
        AccountState::Blocked => Err(refusal(403, "05", "Do Not Honor")),
    }
}

/// A merchant's account at its own bank.
pub(super) fn own_account<'a>(ledger: &'a Ledger, member: &Member, number: &str) -> Option<&'a Account> {
    let account = ledger.books.account(&AccountKey::new(member.habits.transfer.home, number))?;
    Some(account).filter(|account| account.owner.as_deref() == Some(&member.merchant.client_id))
}

/// A member that is an account number: digits.
pub(super) fn account_number<'b>(asked: &ServiceRequest<'_>, body: &'b Value, name: &str) -> Result<&'b str, Reply> {
    let number = asked.text(body, name)?;
    let is_number = number.len() <= ACCOUNT_NUMBER_MOST && number.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { Ok(number) } else { Err(asked.malformed(name)) }
}

/// The bank that a code names.
pub(super) fn named_bank(
    asked: &ServiceRequest<'_>,
    codes: BankCodes,
    name: &str,
    code: &str,
) -> Result<&'static NamedBank, Reply> {
    if !codes.is_code(code) {
        return Err(asked.malformed(name));
    }
    codes.find(code).ok_or_else(|| asked.answer(404, "03", "Bank Not Supported By Switch"))
}

/// A bank that a code names and that is not this one.
pub(super) fn other_bank(
    asked: &ServiceRequest<'_>,
    codes: BankCodes,
    name: &str,
    code: &str,
    home: &str,
) -> Result<&'static NamedBank, Reply> {
    let bank = named_bank(asked, codes, name, code)?;
    if bank.code == home { Err(asked.answer(404, "02", "Invalid Routing")) } else { Ok(bank) }
}

/// `partnerReferenceNo`, which may be left out unless it is wanted.
pub(super) fn check_reference(
    asked: &ServiceRequest<'_>,
    body: &Value,
    is_wanted: bool,
    most: usize,
) -> Result<(), Reply> {
    if !is_wanted && (body["partnerReferenceNo"].is_null() || body["partnerReferenceNo"] == "") {
        return Ok(());
    }
    let reference = asked.text(body, "partnerReferenceNo")?;
    if reference.len() > most { Err(asked.malformed("partnerReferenceNo")) } else { Ok(()) }
}

/// `additionalInfo.fundType` of a non-bank.
pub(super) fn check_fund_type(asked: &ServiceRequest<'_>, body: &Value, member: &Member) -> Result<(), Reply> {
    let Some(wanted) = member.habits.transfer.fund_type else { return Ok(()) };
    let given = asked.text(body, "additionalInfo.fundType")?;
    if given == wanted { Ok(()) } else { Err(asked.malformed("additionalInfo.fundType")) }
}

/// The members of an answer with both references. Where the bank fills what is absent, so are the members that are named.
pub(super) fn with_references(
    asked: &ServiceRequest<'_>,
    member: &Member,
    body: &Value,
    mut members: Value,
    absent: &[&str],
) -> Value {
    members["referenceNo"] = new_reference(asked.now_ms).into();
    if let Some(reference) = body["partnerReferenceNo"].as_str() {
        members["partnerReferenceNo"] = reference.into();
    }
    members["additionalInfo"] = json!({});
    fill(member, &mut members, absent);
    fill(member, &mut members, &["partnerReferenceNo"]);
    members
}

/// Empty texts for members that are absent, at banks that write such.
pub(super) fn fill(member: &Member, members: &mut Value, absent: &[&str]) {
    for name in absent.iter().filter(|_| member.habits.transfer.fills_absent) {
        if members[*name].is_null() {
            members[*name] = "".into();
        }
    }
}

/// The name that an inquiry says.
fn name_of(asked: &ServiceRequest<'_>, account: &Account) -> String {
    match asked.fault {
        Some(Fault::Name(name)) => (*name).to_owned(),
        _ => account.name.clone(),
    }
}

/// The bank's reference of an order or a question: the time and random digits.
pub(super) fn new_reference(now_ms: i64) -> String {
    time::digits(now_ms) + &random_digits(16)
}

fn status_code(state: AccountState) -> &'static str {
    match state {
        AccountState::Open => "0001",
        AccountState::Closed => "0002",
        AccountState::Blocked => "0007",
        AccountState::Dormant => "0009",
    }
}
