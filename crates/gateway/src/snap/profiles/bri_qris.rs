//! BRI as an acquirer of QRIS. Known from two or more sources: the paths that make and query a QR (older contracts have
//! `qr-dynamic-mpm/...`), type 1 with milliseconds for our calls, merchant and terminal in the order, that a query finds
//! a code by the bank's reference alone, with 17 as serviceCode, and that the bank signs its notification over client id
//! and time but not over the body, so that each is confirmed by a query. (1): that it asks us for a token before; and that
//! elsewhere it signs its notification by type 1 with that token, which is taken too.
//!
//! Ours: external ids of nine digits, as at BRI's other services, that no call voids a code, and everything not named here.
//! No payment request (25) comes, so `repeat` decides nothing.

use std::{collections::BTreeMap, time::Duration};

use domain::money::Rupiah;

use super::qris::QRIS_MOST;
use crate::snap::{
    parameters::Parameters,
    profile::Profile,
    values::{Codes, ExternalId, Hosting, Precision, QueryKey, Retry, Service, SignIn, SignOut},
};

pub(super) const PROFILE: Profile = Profile {
    name: "bri-qris",
    title: "BRI: QRIS",
    serves: Codes::Qris,
    bank: None,
    customer_digits_most: 18,
    defaults,
};

fn defaults() -> Parameters {
    Parameters {
        codes: Codes::Qris,
        hosting: Hosting::Theirs,
        paths: BTreeMap::from([
            (Service::Token, "/snap/v1.0/access-token/b2b".to_owned()),
            (Service::QrGenerate, "/snap/v1.1/qr/qr-mpm-generate".to_owned()),
            (Service::QrQuery, "/snap/v1.1/qr/qr-mpm-query".to_owned()),
        ]),
        sign_out: SignOut::Type1,
        sign_in: SignIn::ClientTimestamp,
        asks_token: true,
        precision: Precision::Milliseconds,
        external_id: ExternalId::Digits(9),
        query_key: QueryKey::Theirs,
        service_code: "17".to_owned(),
        retry: Retry::Fresh,
        validity: Duration::from_secs(60)..=Duration::from_hours(30 * 24),
        amounts: Rupiah::new(1)..=QRIS_MOST,
        qr_needs: &["merchant_id", "terminal_id"],
        ..Parameters::standard()
    }
}
