//! What a contract says about sending money: transfers to bank accounts, and giving the money of a QR back. A part of a
//! profile's parameters, with settings of its own.

use std::{fmt, ops::RangeInclusive, time::Duration};

use domain::{destination::Rail, time::DAY};

use super::{
    closed_hours::ClosedHours,
    extra_members::ExtraMembers,
    money_out::BankNamed,
    rails::Rails,
    setting_texts::{within, yes_or_no},
    values::{BankCodes, HolderKind, RefundReference, RefundWay, Resend, Residence, StatementPages, WalletDetails},
};

const REFERENCE_CHARACTERS: RangeInclusive<usize> = 20..=64;
/// A statement must have room for a reference, or nothing is found on it.
const REMARK_CHARACTERS: RangeInclusive<usize> = 25..=100;
const NOT_FOUND_SECONDS: RangeInclusive<u64> = 60..=7 * 24 * 60 * 60;
const DAYS: RangeInclusive<u32> = 1..=3_650;
const ACCOUNT_DIGITS: RangeInclusive<usize> = 5..=34;
const SAME: &str = "same";
const NONE: &str = "none";

/// Whose refunds an account pays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PaysFor {
    /// `assigned`: those of projects that take money by it.
    #[default]
    Assigned,
    /// `all`: those of every production project.
    All,
    /// Ids of projects, with commas.
    Projects(Vec<String>),
}

impl PaysFor {
    const PROJECTS_MOST: usize = 50;

    fn parse(text: &str) -> Option<PaysFor> {
        let is_id = |id: &str| {
            id.starts_with("prj_")
                && id.len() <= 40
                && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        };
        match text {
            "assigned" => Some(PaysFor::Assigned),
            "all" => Some(PaysFor::All),
            ids => {
                let ids: Vec<String> = ids.split(',').map(str::to_owned).collect();
                let is_list = ids.len() <= PaysFor::PROJECTS_MOST && ids.iter().all(|id| is_id(id));
                is_list.then_some(PaysFor::Projects(ids))
            }
        }
    }
}

impl fmt::Display for PaysFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PaysFor::Assigned => f.write_str("assigned"),
            PaysFor::All => f.write_str("all"),
            PaysFor::Projects(ids) => f.write_str(&ids.join(",")),
        }
    }
}

/// Transfers to bank accounts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfers {
    /// `transfer=none`, or the rails that the contract has, the preferred one first: `intrabank`, `bi_fast`, `online`, `skn`,
    /// `rtgs`, `wallet`. Amounts may follow: `bi_fast:10000..100000000`.
    pub rails: Rails,
    /// `source_account=1234567890`: the account that the money leaves.
    pub source_account: Option<String>,
    /// `pays_for=assigned|all|prj_…,prj_…`: whose refunds are paid from it.
    pub pays_for: PaysFor,
    /// `own_bank=014`: the code of the bank that has that account.
    pub own_bank: Option<String>,
    /// `transfer_channel_id=same|95051`: CHANNEL-ID in calls about transfers.
    pub channel_id: Option<String>,
    /// `transfer_partner_id=same|TEXT`: X-PARTNER-ID in calls about transfers.
    pub partner_id: Option<String>,
    /// `reference_max=25`: how many characters a reference of ours may have. 20 to 64.
    pub reference_max: usize,
    /// `resend=never|same_reference|same_external_id`: whether an order may be sent again while its outcome is unknown.
    pub resend: Resend,
    /// `not_found_after=86400`: for how many seconds "not found" proves nothing. At most 7 days.
    pub not_found_after: Duration,
    /// `status_days=31`: for how many days the bank says what became of a transfer.
    pub status_days: u32,
    /// `bank_codes=swift|three_digits`: how the bank wants other banks to be named.
    pub bank_codes: BankCodes,
    /// `remark_max=36`: how many characters the bank prints on statements.
    pub remark_max: usize,
    /// `statement_pages=none|last_record|numbers:100`: how the bank tells a statement that is too long for one answer.
    pub statement_pages: StatementPages,
    /// `fee_type=none|OUR`: what stands in feeType.
    pub fee_type: Option<String>,
    /// `inquiry_info=none|…`: members of additionalInfo when a destination between banks is asked about (16).
    pub inquiry_info: ExtraMembers,
    /// `intrabank_info=none`, `bi_fast_info=transferType:2,purposeCode:99` and so on: members of additionalInfo.
    pub intrabank_info: ExtraMembers,
    pub bi_fast_info: ExtraMembers,
    pub online_info: ExtraMembers,
    pub skn_info: ExtraMembers,
    pub rtgs_info: ExtraMembers,
    pub wallet_info: ExtraMembers,
    /// `beneficiary_residence=1|2`: where SKN and RTGS are told that customers live: in Indonesia, or abroad.
    pub beneficiary_residence: Residence,
    /// `beneficiary_type=1|2|3`: what SKN and RTGS are told that customers are: persons, companies, or of the government.
    pub beneficiary_kind: HolderKind,
    /// `wallet_details=outside|additional_info`: where a wallet wants the bank that an inquiry is about, and the holder's name.
    pub wallet_details: WalletDetails,
}

/// Giving the money of a QR back by a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refunds {
    /// `refund=no|78|58`: by which service. `yes`, as accounts were set before, means 78.
    pub way: RefundWay,
    /// `refund_window=45`: for how many days after the payment.
    pub window_days: u32,
    /// `refund_one_at_a_time=yes|no`: whether a payment may have one unfinished refund only. Always so with `issuers`.
    pub one_at_a_time: bool,
    /// `refund_reference=ours|issuers`: whose reference partnerRefundNo is.
    pub reference: RefundReference,
    /// `refund_closed=none|23:55-06:00`: when the bank takes no refunds.
    pub closed: ClosedHours,
    /// `refund_info=none|…`: members of additionalInfo.
    pub info: ExtraMembers,
}

impl Default for Transfers {
    fn default() -> Transfers {
        Transfers {
            rails: Rails::default(),
            source_account: None,
            pays_for: PaysFor::default(),
            own_bank: None,
            channel_id: None,
            partner_id: None,
            reference_max: 25,
            resend: Resend::Never,
            not_found_after: DAY,
            status_days: 30,
            bank_codes: BankCodes::ThreeDigits,
            remark_max: 36,
            statement_pages: StatementPages::LastRecord,
            fee_type: Some("OUR".to_owned()),
            inquiry_info: ExtraMembers::default(),
            intrabank_info: ExtraMembers::default(),
            bi_fast_info: ExtraMembers::default(),
            online_info: ExtraMembers::default(),
            skn_info: ExtraMembers::default(),
            rtgs_info: ExtraMembers::default(),
            wallet_info: ExtraMembers::default(),
            beneficiary_residence: Residence::Indonesia,
            beneficiary_kind: HolderKind::Person,
            wallet_details: WalletDetails::Outside,
        }
    }
}

impl Default for Refunds {
    fn default() -> Refunds {
        Refunds {
            way: RefundWay::None,
            window_days: 365,
            one_at_a_time: false,
            reference: RefundReference::Ours,
            closed: ClosedHours::default(),
            info: ExtraMembers::default(),
        }
    }
}

impl Transfers {
    /// Whether the bank can be told which bank gets the money.
    pub fn names(&self, bank: BankNamed<'_>) -> bool {
        self.name_of(bank).is_some()
    }

    /// A bank as this one wants it to be named; none where that is not known.
    pub(super) fn name_of<'a>(&self, bank: BankNamed<'a>) -> Option<&'a str> {
        match self.bank_codes {
            BankCodes::Swift => bank.swift,
            BankCodes::ThreeDigits => Some(bank.three_digits),
        }
    }

    pub(super) fn info(&self, rail: Rail) -> &ExtraMembers {
        match rail {
            Rail::Intrabank => &self.intrabank_info,
            Rail::BiFast => &self.bi_fast_info,
            Rail::Online => &self.online_info,
            Rail::Skn => &self.skn_info,
            Rail::Rtgs => &self.rtgs_info,
            Rail::Wallet => &self.wallet_info,
        }
    }

    /// Sets one of the settings of transfers; none if it is none of them.
    pub(super) fn set(&mut self, name: &str, text: &str) -> Option<Result<(), ()>> {
        Some(match name {
            "transfer" => put(&mut self.rails, Rails::parse(text)),
            "source_account" => put(&mut self.source_account, account_number(text).map(Some)),
            "pays_for" => put(&mut self.pays_for, PaysFor::parse(text)),
            "own_bank" => put(&mut self.own_bank, bank_code(text).map(Some)),
            "transfer_channel_id" => put(&mut self.channel_id, channel(text)),
            "transfer_partner_id" => put(&mut self.partner_id, word_or(text, SAME)),
            "reference_max" => put(&mut self.reference_max, within(text, REFERENCE_CHARACTERS)),
            "resend" => put(&mut self.resend, Resend::parse(text)),
            "not_found_after" => {
                put(&mut self.not_found_after, within(text, NOT_FOUND_SECONDS).map(Duration::from_secs))
            }
            "status_days" => put(&mut self.status_days, within(text, DAYS)),
            "bank_codes" => put(&mut self.bank_codes, BankCodes::parse(text)),
            "remark_max" => put(&mut self.remark_max, within(text, REMARK_CHARACTERS)),
            "statement_pages" => put(&mut self.statement_pages, StatementPages::parse(text)),
            "fee_type" => put(&mut self.fee_type, word_or(text, NONE)),
            "inquiry_info" => put(&mut self.inquiry_info, ExtraMembers::parse(text)),
            "intrabank_info" => put(&mut self.intrabank_info, ExtraMembers::parse(text)),
            "bi_fast_info" => put(&mut self.bi_fast_info, ExtraMembers::parse(text)),
            "online_info" => put(&mut self.online_info, ExtraMembers::parse(text)),
            "skn_info" => put(&mut self.skn_info, ExtraMembers::parse(text)),
            "rtgs_info" => put(&mut self.rtgs_info, ExtraMembers::parse(text)),
            "wallet_info" => put(&mut self.wallet_info, ExtraMembers::parse(text)),
            "beneficiary_residence" => put(&mut self.beneficiary_residence, Residence::parse(text)),
            "beneficiary_type" => put(&mut self.beneficiary_kind, HolderKind::parse(text)),
            "wallet_details" => put(&mut self.wallet_details, WalletDetails::parse(text)),
            _ => return None,
        })
    }

    pub(super) fn in_force(&self) -> Vec<(&'static str, String)> {
        let optional = |value: &Option<String>| value.clone().unwrap_or_default();
        let or = |value: &Option<String>, word: &str| value.clone().unwrap_or_else(|| word.to_owned());
        vec![
            ("transfer", self.rails.to_string()),
            ("source_account", optional(&self.source_account)),
            ("pays_for", self.pays_for.to_string()),
            ("own_bank", optional(&self.own_bank)),
            ("transfer_channel_id", or(&self.channel_id, SAME)),
            ("transfer_partner_id", or(&self.partner_id, SAME)),
            ("reference_max", self.reference_max.to_string()),
            ("resend", self.resend.word().to_owned()),
            ("not_found_after", self.not_found_after.as_secs().to_string()),
            ("status_days", self.status_days.to_string()),
            ("bank_codes", self.bank_codes.word().to_owned()),
            ("remark_max", self.remark_max.to_string()),
            ("statement_pages", self.statement_pages.to_string()),
            ("fee_type", or(&self.fee_type, NONE)),
            ("inquiry_info", self.inquiry_info.to_string()),
            ("intrabank_info", self.intrabank_info.to_string()),
            ("bi_fast_info", self.bi_fast_info.to_string()),
            ("online_info", self.online_info.to_string()),
            ("skn_info", self.skn_info.to_string()),
            ("rtgs_info", self.rtgs_info.to_string()),
            ("wallet_info", self.wallet_info.to_string()),
            ("beneficiary_residence", self.beneficiary_residence.word().to_owned()),
            ("beneficiary_type", self.beneficiary_kind.word().to_owned()),
            ("wallet_details", self.wallet_details.word().to_owned()),
        ]
    }
}

impl Refunds {
    /// Sets one of the settings of refunds; none if it is none of them.
    pub(super) fn set(&mut self, name: &str, text: &str) -> Option<Result<(), ()>> {
        Some(match name {
            "refund" => put(&mut self.way, way(text)),
            "refund_window" => put(&mut self.window_days, within(text, DAYS)),
            "refund_one_at_a_time" => put(&mut self.one_at_a_time, yes_or_no(text)),
            "refund_reference" => put(&mut self.reference, RefundReference::parse(text)),
            "refund_closed" => put(&mut self.closed, ClosedHours::parse(text)),
            "refund_info" => put(&mut self.info, ExtraMembers::parse(text)),
            _ => return None,
        })
    }

    pub(super) fn in_force(&self) -> Vec<(&'static str, String)> {
        vec![
            ("refund", self.way.word().to_owned()),
            ("refund_window", self.window_days.to_string()),
            ("refund_one_at_a_time", if self.one_at_a_time { "yes" } else { "no" }.to_owned()),
            ("refund_reference", self.reference.word().to_owned()),
            ("refund_closed", self.closed.to_string()),
            ("refund_info", self.info.to_string()),
        ]
    }
}

/// The settings of both, and what each may be.
pub(super) const SETTINGS: &[(&str, &str)] = &[
    (
        "transfer",
        "none, or some of intrabank, bi_fast, online, skn, rtgs and wallet, with commas; amounts may follow: bi_fast:10000..100000000",
    ),
    ("source_account", "5 to 34 digits"),
    ("pays_for", "assigned, all, or ids of projects with commas"),
    ("own_bank", "3 digits, such as 014"),
    ("transfer_channel_id", "same, or up to 5 digits"),
    ("transfer_partner_id", "same, or 1 to 36 letters, digits and signs, without spaces"),
    ("reference_max", "20 to 64"),
    ("resend", "never, same_reference or same_external_id"),
    ("not_found_after", "60 to 604800 seconds"),
    ("status_days", "1 to 3650"),
    ("bank_codes", "swift or three_digits"),
    ("remark_max", "25 to 100"),
    ("statement_pages", "none, last_record, or numbers:N with N from 1 to 1000"),
    ("fee_type", "none, or a word such as OUR, BEN, SHA or SHA|1000"),
    ("inquiry_info", EXTRA_MEMBERS),
    ("intrabank_info", EXTRA_MEMBERS),
    ("bi_fast_info", EXTRA_MEMBERS),
    ("online_info", EXTRA_MEMBERS),
    ("skn_info", EXTRA_MEMBERS),
    ("rtgs_info", EXTRA_MEMBERS),
    ("wallet_info", EXTRA_MEMBERS),
    ("beneficiary_residence", "1 (Indonesia) or 2 (abroad)"),
    ("beneficiary_type", "1 (persons), 2 (companies) or 3 (government)"),
    ("wallet_details", "outside or additional_info"),
    ("refund", "no, 78 or 58; yes means 78"),
    ("refund_window", "1 to 3650 days"),
    ("refund_one_at_a_time", "yes or no"),
    ("refund_reference", "ours or issuers"),
    ("refund_closed", "none, or from when to when in Jakarta, such as 23:55-06:00"),
    ("refund_info", EXTRA_MEMBERS),
];

pub(super) const EXTRA_MEMBERS: &str =
    "none, or members such as acquirer:gopay, with commas; a.b:c is member b of member a";

fn put<T>(slot: &mut T, value: Option<T>) -> Result<(), ()> {
    *slot = value.ok_or(())?;
    Ok(())
}

fn way(text: &str) -> Option<RefundWay> {
    if text == "yes" { Some(RefundWay::Qr) } else { RefundWay::parse(text) }
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn account_number(text: &str) -> Option<String> {
    (ACCOUNT_DIGITS.contains(&text.len()) && is_digits(text)).then(|| text.to_owned())
}

fn bank_code(text: &str) -> Option<String> {
    (text.len() == 3 && is_digits(text)).then(|| text.to_owned())
}

fn channel(text: &str) -> Option<Option<String>> {
    match text {
        SAME => Some(None),
        id if (1..=5).contains(&id.len()) && is_digits(id) => Some(Some(id.to_owned())),
        _ => None,
    }
}

/// A text that could be sent, or the word that stands for none.
fn word_or(text: &str, none: &str) -> Option<Option<String>> {
    let is_word = (1..=36).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_graphic() && !b"/<>&\\\"".contains(&byte));
    match text {
        none_word if none_word == none => Some(None),
        word if is_word => Some(Some(word.to_owned())),
        _ => None,
    }
}
