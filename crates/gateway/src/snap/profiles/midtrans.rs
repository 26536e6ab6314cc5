//! Midtrans: QRIS of GoPay and ShopeePay, and virtual accounts of several banks, all hosted there. Known from two or more
//! sources: paths, that our calls are signed by type 1 and theirs by type 2 without a token, an external id of at most 36
//! characters, a channel of five digits (which they give), the acquirer in additionalInfo, codes that live 20 seconds to 180
//! days, 2024700 for one that is still being made, delete-va as POST, and `grant_type` in the body of a token request.
//!
//! Refunds. Known from two or more sources: the path of 78. Known from their documents: that a refund whose outcome is not
//! known is sent again with the same external id, and not asked about before ten minutes; 45 days for GoPay, 365 for
//! ShopeePay, which is closed from 23:55 to 06:00 (`refund_window`, `refund_closed`); and that references repeat after two
//! months, which ours never do. Not known: whether its query tells of refunds.
//!
//! Ours: GoPay as the acquirer, QRIS alone until `codes` says otherwise, and everything not named here. In calls about
//! virtual accounts `va_info` must name the bank as their documents say. `repeat` decides nothing: a payment request (25)
//! tells of money that is taken already, and is always answered with success.

use std::{collections::BTreeMap, time::Duration};

use domain::money::Rupiah;

use crate::snap::{
    extra_members::ExtraMembers,
    parameters::Parameters,
    profile::Profile,
    sending::{Refunds, Transfers},
    values::{
        Codes, ExternalId, GrantMember, Hosting, HttpMethod, QueryKey, RefundWay, Resend, Retry, Service, SignIn,
        SignOut,
    },
};

pub(super) const PROFILE: Profile = Profile {
    name: "midtrans",
    title: "Midtrans: QRIS and virtual accounts",
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
            (Service::Token, "/v1.0/access-token/b2b".to_owned()),
            (Service::QrGenerate, "/v1.0/qr/qr-mpm-generate".to_owned()),
            (Service::QrQuery, "/v1.0/qr/qr-mpm-query".to_owned()),
            (Service::QrCancel, "/v1.0/qr/qr-mpm-cancel".to_owned()),
            (Service::QrRefund, "/v1.0/qr/qr-mpm-refund".to_owned()),
            (Service::CreateVa, "/v1.0/transfer-va/create-va".to_owned()),
            (Service::Status, "/v1.0/transfer-va/status".to_owned()),
            (Service::DeleteVa, "/v1.0/transfer-va/delete-va".to_owned()),
        ]),
        methods: BTreeMap::from([(Service::DeleteVa, HttpMethod::Post)]),
        sign_out: SignOut::Type1,
        sign_in: SignIn::Type2,
        external_id: ExternalId::Reference,
        query_key: QueryKey::Ours,
        retry: Retry::QueryFirst,
        qr_info: ExtraMembers::of(&[("acquirer", "gopay")]),
        grant_member: GrantMember::Snake,
        validity: Duration::from_secs(20)..=Duration::from_hours(180 * 24),
        amounts: Rupiah::new(1)..=Rupiah::MAX,
        void: true,
        refunds: Refunds { way: RefundWay::Qr, window_days: 45, ..Refunds::default() },
        transfers: Transfers {
            resend: Resend::SameExternalId,
            not_found_after: Duration::from_mins(10),
            ..Transfers::default()
        },
        ..Parameters::standard()
    }
}
