//! BNI: transfers alone, for a contract that issues no codes. Known from two or more sources: the paths below
//! `/snap-service/v1`, the path of the token, and external ids of 19 digits. Known from its program (1): the API key as
//! X-PARTNER-ID (`partner_id`), banks by three digits, customerReference, feeType, and members that are absent elsewhere
//! sent as empty texts, which we leave out as the standard allows.
//!
//! Not known: by what an order says that it goes by BI-FAST, so that only online transfers should be offered until the bank
//! says otherwise; and how long "not found" may be wrong. Ours: that, and a day.

use std::collections::BTreeMap;

use domain::destination::Rail;

use crate::snap::{
    parameters::Parameters,
    profile::Profile,
    rails::Rails,
    sending::Transfers,
    values::{Codes, ExternalId, Service, SignOut},
};

pub(super) const PROFILE: Profile = Profile {
    name: "bni",
    title: "BNI: transfers",
    serves: Codes::None,
    bank: None,
    customer_digits_most: 18,
    defaults,
};

fn defaults() -> Parameters {
    Parameters {
        codes: Codes::None,
        paths: BTreeMap::from([
            (Service::Token, "/snap/v1/access-token/b2b".to_owned()),
            (Service::Balance, "/snap-service/v1/balance-inquiry".to_owned()),
            (Service::Statement, "/snap-service/v1/bank-statement".to_owned()),
            (Service::AccountInternal, "/snap-service/v1/account-inquiry-internal".to_owned()),
            (Service::AccountExternal, "/snap-service/v1/account-inquiry-external".to_owned()),
            (Service::TransferIntrabank, "/snap-service/v1/transfer-intrabank".to_owned()),
            (Service::TransferInterbank, "/snap-service/v1/transfer-interbank".to_owned()),
            (Service::TransferRtgs, "/snap-service/v1/transfer-rtgs".to_owned()),
            (Service::TransferSkn, "/snap-service/v1/transfer-skn".to_owned()),
            (Service::TransferStatus, "/snap-service/v1/transfer/status".to_owned()),
        ]),
        sign_out: SignOut::Type1,
        external_id: ExternalId::Digits(19),
        transfers: Transfers {
            rails: Rails::of(&[Rail::Intrabank, Rail::Online]),
            own_bank: Some("009".to_owned()),
            ..Transfers::default()
        },
        ..Parameters::standard()
    }
}
