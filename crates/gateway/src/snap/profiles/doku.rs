//! DOKU: QRIS, and virtual accounts of several banks, all hosted there. Known from two or more sources: paths, type 1 both
//! ways, the channel in additionalInfo of virtual accounts, that either side may choose the number, and that a status
//! is to be asked for 60 seconds after a payment at the earliest.
//!
//! Refunds. Known from two sources: the path of 78. Not known: whether a contract has it, for how long after a payment,
//! and how one asks what became of it, so that money goes back by transfer until `refund=78` says otherwise.
//!
//! Ours: that we choose the number, QRIS alone until `codes` says otherwise, and everything not named here. In calls about
//! virtual accounts `va_info` must name the channel, such as `channel:VIRTUAL_ACCOUNT_BCA`. (1): that customerNo may hold
//! the whole number, as at its Mandiri accounts. `repeat` decides nothing: a payment request (25) tells of money that is
//! taken already, and is always answered with success.

use std::{collections::BTreeMap, time::Duration};

use domain::money::Rupiah;

use crate::snap::{
    parameters::Parameters,
    profile::Profile,
    values::{Codes, Hosting, QueryKey, Retry, Service, SignOut},
};

pub(super) const PROFILE: Profile = Profile {
    name: "doku",
    title: "DOKU: QRIS and virtual accounts",
    serves: Codes::Both,
    bank: None,
    customer_digits_most: 18,
    defaults,
};

fn defaults() -> Parameters {
    Parameters {
        codes: Codes::Qris,
        hosting: Hosting::Theirs,
        paths: BTreeMap::from([
            (Service::Token, "/authorization/v1/access-token/b2b".to_owned()),
            (Service::QrGenerate, "/snap-adapter/b2b/v1.0/qr/qr-mpm-generate".to_owned()),
            (Service::QrQuery, "/snap-adapter/b2b/v1.0/qr/qr-mpm-query".to_owned()),
            (Service::QrCancel, "/snap-adapter/b2b/v1.0/qr/qr-mpm-cancel".to_owned()),
            (Service::QrRefund, "/snap-adapter/b2b/v1.0/qr/qr-mpm-refund".to_owned()),
            (Service::CreateVa, "/virtual-accounts/bi-snap-va/v1.1/transfer-va/create-va".to_owned()),
            (Service::DeleteVa, "/virtual-accounts/bi-snap-va/v1.1/transfer-va/delete-va".to_owned()),
            (Service::Status, "/orders/v1.0/transfer-va/status".to_owned()),
        ]),
        sign_out: SignOut::Type1,
        query_key: QueryKey::Ours,
        retry: Retry::QueryFirst,
        status_delay: Duration::from_secs(60),
        validity: Duration::from_secs(60)..=Duration::from_hours(30 * 24),
        amounts: Rupiah::new(1)..=Rupiah::MAX,
        void: true,
        ..Parameters::standard()
    }
}
