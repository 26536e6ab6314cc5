//! Any other bank: what the standard says, to be filled in by settings from the bank's documents. The paths are the
//! standard's; the rest is ours, and lenient where we read.

use std::collections::BTreeMap;

use crate::snap::{
    parameters::Parameters,
    profile::Profile,
    values::{Service, SignOut},
};

pub(super) const PROFILE: Profile =
    Profile { name: "generic", title: "Any bank that speaks SNAP", bank: None, customer_digits_most: 18, defaults };

fn defaults() -> Parameters {
    Parameters {
        paths: BTreeMap::from([
            (Service::Token, "/v1.0/access-token/b2b".to_owned()),
            (Service::Status, "/v1.0/transfer-va/status".to_owned()),
        ]),
        sign_out: SignOut::Type1,
        ..Parameters::standard()
    }
}
