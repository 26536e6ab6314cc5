//! Any other bank: what the standard says, to be filled in by settings from the bank's documents. The paths are the
//! standard's, so that settings make it an account that we host, one that the bank hosts (`hosting=theirs`) or an
//! acquirer of QRIS (`codes=qris`); the rest is ours, and lenient where we read. So is `repeat`: a repeated payment request
//! gets the stored answer, on which every bank does what it would have done on the first; whether a bank wants 4042518
//! instead, and then goes by the flag, it must say itself.
//! Where we do not know whether money is booked, it gets 2022500 with flag 02: BCA and BRI both suspend on that, and BCA
//! reverses on 5xx.

use std::collections::BTreeMap;

use crate::snap::{
    parameters::Parameters,
    profile::Profile,
    values::{Codes, Service, SignOut},
};

pub(super) const PROFILE: Profile = Profile {
    name: "generic",
    title: "Any bank that speaks SNAP",
    serves: Codes::Both,
    bank: None,
    customer_digits_most: 18,
    defaults,
};

fn defaults() -> Parameters {
    Parameters {
        paths: BTreeMap::from([
            (Service::Token, "/v1.0/access-token/b2b".to_owned()),
            (Service::Status, "/v1.0/transfer-va/status".to_owned()),
            (Service::CreateVa, "/v1.0/transfer-va/create-va".to_owned()),
            (Service::DeleteVa, "/v1.0/transfer-va/delete-va".to_owned()),
            (Service::Report, "/v1.0/transfer-va/report".to_owned()),
            (Service::QrGenerate, "/v1.0/qr/qr-mpm-generate".to_owned()),
            (Service::QrQuery, "/v1.0/qr/qr-mpm-query".to_owned()),
            (Service::QrCancel, "/v1.0/qr/qr-mpm-cancel".to_owned()),
        ]),
        sign_out: SignOut::Type1,
        void: true,
        ..Parameters::standard()
    }
}
