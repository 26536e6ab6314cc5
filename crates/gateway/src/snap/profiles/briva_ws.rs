//! BRIVA WS: BRI virtual accounts, hosted by the bank. Known from two or more sources: paths, type 1 both ways, milliseconds
//! in our calls, external ids of exactly nine digits, at most thirteen customer digits, and a partner service id padded to
//! eight. (1): that notification 34 is never repeated, so that the report (35) must be asked for, and that the bank's
//! HMACs are in hexadecimal digits (both are read); that the company code may be padded with zeros; and that a status
//! answer may say no more than that the number is paid, without the payment request.
//!
//! Ours: thirteen customer digits, that such money is the bill's and is named by our reference until the bank names it, and
//! everything not named here. `repeat` decides nothing: a payment request (25) tells of money that is taken already, and is
//! always answered with success.

use std::{collections::BTreeMap, time::Duration};

use domain::bank::Bank;

use crate::snap::{
    parameters::Parameters,
    profile::Profile,
    values::{Codes, ExternalId, Hosting, Precision, QueryKey, Retry, Service, SignOut},
};

pub(super) const PROFILE: Profile = Profile {
    name: "briva-ws",
    title: "BRI virtual account (BRIVA WS)",
    serves: Codes::Va,
    bank: Some(Bank::Bri),
    customer_digits_most: 13,
    defaults,
};

fn defaults() -> Parameters {
    Parameters {
        hosting: Hosting::Theirs,
        paths: BTreeMap::from([
            (Service::Token, "/snap/v1.0/access-token/b2b".to_owned()),
            (Service::CreateVa, "/snap/v1.0/transfer-va/create-va".to_owned()),
            (Service::Status, "/snap/v1.0/transfer-va/status".to_owned()),
            (Service::DeleteVa, "/snap/v1.0/transfer-va/delete-va".to_owned()),
            (Service::Report, "/snap/v1.0/transfer-va/report".to_owned()),
        ]),
        sign_out: SignOut::Type1,
        precision: Precision::Milliseconds,
        external_id: ExternalId::Digits(9),
        customer_digits: 13,
        query_key: QueryKey::Number,
        retry: Retry::QueryFirst,
        notify_retries: false,
        validity: Duration::from_secs(60)..=Duration::from_hours(30 * 24),
        void: true,
        ..Parameters::standard()
    }
}
