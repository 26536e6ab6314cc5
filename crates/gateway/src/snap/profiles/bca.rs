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
//! Ours: eleven customer digits (with a company code of five, numbers have sixteen), numbers in the standard's shape alone,
//! and everything not named here.

use std::collections::BTreeMap;

use domain::bank::Bank;

use crate::snap::{
    parameters::Parameters,
    profile::Profile,
    values::{ChannelIds, Codes, CustomerNo, ExternalId, Padding, PartnerId, Repeat, Service, SignOut, Undecided},
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
        ..Parameters::standard()
    }
}
