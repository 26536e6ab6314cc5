//! BCA virtual accounts, hosted by us. Known from two or more sources: the paths, signing, the channel, the company code
//! as X-PARTNER-ID, the numeric external id, the lengths of numbers, names and request ids, that a request id is the same
//! in inquiry and payment, that status and reason stand in every answer, and that flag 01 makes the bank give the money
//! back. A repeated payment request must be answered 4042518 (2+): the bank goes by the flag beside it, 00 books and 01
//! reverses, while after a 409 it books a settled payment as failed. The bank's published sample of a payment request has
//! neither totalAmount nor trxDateTime, so that neither is needed; partner programs do send them.
//!
//! 2022500 with flag 02 suspends, and so does no answer; any code but 2002500, 2022500 and 4042518 reverses, 5002500 too. So
//! where we do not know whether money is booked it gets 2022500 with flag 02: a proxy would make a 502 of no answer.
//!
//! Transfers. Known from two or more sources: the paths, with 16 and 18 in version 2.0; channel 95051; that 18 wants
//! transferType (1: online, 2: BI-FAST) and purposeCode (01, 02, 03 or 99); banks by SWIFT code; that 15 and 17 may share
//! a reference; that a status is answered for 31 days, by originalExternalId, and that on "not found" the statement is to
//! be looked at; that remarks have two lines of 18 without other signs, and statements whole days, so that a page cannot be asked
//! for by its time (`statement_pages`). (1): that it answers the
//! statuses 00, 03 and 06 alone, and that it tells later of RTGS and SKN
//! transfers that come back (76, 75). Not known: what additionalInfo of 16 must say for BI-FAST (`inquiry_info`), and X-PARTNER-ID
//! in these calls, which is the corporate id there (`transfer_partner_id`). Ours: purpose 99, and a day before "not found"
//! may prove anything.
//!
//! Ours: eleven customer digits (with a company code of five, numbers have sixteen), numbers in the standard's shape alone,
//! and everything not named here.

use std::collections::BTreeMap;

use domain::bank::Bank;

use crate::snap::{
    extra_members::ExtraMembers,
    parameters::Parameters,
    profile::Profile,
    sending::Transfers,
    values::{
        BankCodes, ChannelIds, Codes, CustomerNo, ExternalId, Padding, PartnerId, Repeat, Service, SignOut,
        StatementPages, Undecided,
    },
};

pub(super) const PROFILE: Profile = Profile {
    name: "bca",
    title: "BCA virtual account",
    serves: Codes::Va,
    bank: Some(Bank::Bca),
    customer_digits_most: 18,
    defaults,
};

fn defaults() -> Parameters {
    Parameters {
        paths: BTreeMap::from([
            (Service::Token, "/openapi/v1.0/access-token/b2b".to_owned()),
            (Service::Status, "/openapi/v2.0/transfer-va/status".to_owned()),
            (Service::Balance, "/openapi/v1.0/balance-inquiry".to_owned()),
            (Service::Statement, "/openapi/v1.0/bank-statement".to_owned()),
            (Service::AccountInternal, "/openapi/v1.0/account-inquiry-internal".to_owned()),
            (Service::AccountExternal, "/openapi/v2.0/account-inquiry-external".to_owned()),
            (Service::TransferIntrabank, "/openapi/v1.0/transfer-intrabank".to_owned()),
            (Service::TransferInterbank, "/openapi/v2.0/transfer-interbank".to_owned()),
            (Service::TransferRtgs, "/openapi/v1.0/transfer-rtgs".to_owned()),
            (Service::TransferSkn, "/openapi/v1.0/transfer-skn".to_owned()),
            (Service::TransferStatus, "/openapi/v1.0/transfer/status".to_owned()),
        ]),
        sign_out: SignOut::Type1,
        external_id: ExternalId::Numeric(36),
        channel_id: ChannelIds::of(&["95231"]),
        partner_id: PartnerId::ServiceId,
        customer_digits: 11,
        number_digits: 1..=26,
        customer_no: CustomerNo::Rest,
        service_id_padding: Padding::Spaces,
        name_max: 30,
        request_id_max: 30,
        repeat: Repeat::Inconsistent,
        undecided: Undecided::InProgress,
        full_answers: true,
        transfers: Transfers {
            own_bank: Some("014".to_owned()),
            channel_id: Some("95051".to_owned()),
            status_days: 31,
            bank_codes: BankCodes::Swift,
            remark_max: 36,
            statement_pages: StatementPages::None,
            online_info: ExtraMembers::of(&[("transferType", "1"), ("purposeCode", "99")]),
            bi_fast_info: ExtraMembers::of(&[("transferType", "2"), ("purposeCode", "99")]),
            ..Transfers::default()
        },
        ..Parameters::standard()
    }
}
