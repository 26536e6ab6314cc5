//! BRI: transfers alone, for a contract that issues no codes. Known from its documents (1): the paths, with version 2.0 of
//! intrabank and 1.0 of interbank; numeric external ids; banks by three digits; references of 20 characters in its services
//! of RTGS and status; OUR, BEN and `SHA|1000` as feeType. Known from two or more sources, from its other services: the path
//! of the token, type 1 with milliseconds, external ids of nine digits. (1): that there is no status during its end of
//! day, so that what is not found is to be looked for again by 08:00.
//!
//! Not known: the paths of status, statement and balance, and by what an order says that it goes by BI-FAST: version 2.0 of
//! interbank has a service of its own for it, so that by this profile only online transfers should be offered until the
//! bank says otherwise. Ours: that, and a day before "not found" may prove anything.

use std::collections::BTreeMap;

use domain::destination::Rail;

use crate::snap::{
    parameters::Parameters,
    profile::Profile,
    rails::Rails,
    sending::Transfers,
    values::{Codes, ExternalId, Precision, Service, SignOut},
};

pub(super) const PROFILE: Profile = Profile {
    name: "bri",
    title: "BRI: transfers",
    serves: Codes::None,
    bank: None,
    customer_digits_most: 18,
    defaults,
};

fn defaults() -> Parameters {
    Parameters {
        codes: Codes::None,
        paths: BTreeMap::from([
            (Service::Token, "/snap/v1.0/access-token/b2b".to_owned()),
            (Service::Balance, "/snap/v1.0/balance-inquiry".to_owned()),
            (Service::Statement, "/snap/v1.0/bank-statement".to_owned()),
            (Service::AccountInternal, "/intrabank/snap/v2.0/account-inquiry-internal".to_owned()),
            (Service::AccountExternal, "/interbank/snap/v1.0/account-inquiry-external".to_owned()),
            (Service::TransferIntrabank, "/intrabank/snap/v2.0/transfer-intrabank".to_owned()),
            (Service::TransferInterbank, "/interbank/snap/v1.0/transfer-interbank".to_owned()),
            (Service::TransferRtgs, "/snap/v2.0/transfer-rtgs".to_owned()),
            (Service::TransferSkn, "/snap/v1.0/transfer-sknbi".to_owned()),
            (Service::TransferStatus, "/snap/v1.0/transfer/status".to_owned()),
        ]),
        sign_out: SignOut::Type1,
        precision: Precision::Milliseconds,
        external_id: ExternalId::Digits(9),
        transfers: Transfers {
            rails: Rails::of(&[Rail::Intrabank, Rail::Online]),
            own_bank: Some("002".to_owned()),
            reference_max: 20,
            ..Transfers::default()
        },
        ..Parameters::standard()
    }
}
