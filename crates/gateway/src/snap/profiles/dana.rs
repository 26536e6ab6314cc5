//! DANA as an acquirer of QRIS. Known from two or more sources: the path that makes a QR, that status and cancel are 55 and
//! 57 below `debit/`, type 2 both ways, notification 56, a reference of at most 25 characters, the store in the order,
//! channel 95221, eight seconds for an answer, that the same reference again is safe while 404xx18 means another body,
//! and that 02 is not final.
//!
//! Refunds (58) and transfers from the balance to bank accounts (42, 43). Known from two or more sources: the paths of
//! transfers and of their status, that the status is asked for with serviceCode 00 and answered 2000000 or 4040001, that
//! 2024300 is not final, that the same reference again is safe, and from its own clients in several languages: `fundType` in
//! additionalInfo; there, too, the bank of an inquiry (42) and the holder's name, while the bank of a transfer (43) stands outside
//! (`wallet_details`); customerNumber as 628…, needed by both. (1): banks by three digits (`bank_codes`), 55 with refundHistory,
//! that a transfer which was done can be reversed later. Not known: the prefix of refunds, which differs by product as those of
//! status and cancel do (`path.debit_refund`), their window, and how long "not found" may be wrong: its own guide takes the
//! status 07 for failed, which we do not. Ours: a year, and a day.
//!
//! Ours: the prefix of status and cancel, which differs by product (`path.debit_status`, `path.debit_cancel`), and
//! everything not named here. No payment request (25) comes, so `repeat` decides nothing. More of additionalInfo, such as envInfo, is set by `qr_info` as their documents say.

use std::{collections::BTreeMap, time::Duration};

use domain::money::Rupiah;

use super::qris::QRIS_MOST;
use crate::snap::{
    extra_members::ExtraMembers,
    parameters::Parameters,
    profile::Profile,
    sending::{Refunds, Transfers},
    values::{ChannelIds, Codes, Hosting, QueryKey, RefundWay, Resend, Retry, Service, SignIn, SignOut, WalletDetails},
};

pub(super) const PROFILE: Profile =
    Profile { name: "dana", title: "DANA: QRIS", serves: Codes::Qris, bank: None, customer_digits_most: 18, defaults };

fn defaults() -> Parameters {
    Parameters {
        codes: Codes::Qris,
        hosting: Hosting::Theirs,
        paths: BTreeMap::from([
            (Service::QrGenerate, "/v1.0/qr/qr-mpm-generate.htm".to_owned()),
            (Service::DebitStatus, "/v1.0/debit/status.htm".to_owned()),
            (Service::DebitCancel, "/v1.0/debit/cancel.htm".to_owned()),
            (Service::DebitRefund, "/v1.0/debit/refund.htm".to_owned()),
            (Service::WalletInquiry, "/v1.0/emoney/bank-account-inquiry.htm".to_owned()),
            (Service::WalletTransfer, "/v1.0/emoney/transfer-bank.htm".to_owned()),
            (Service::WalletStatus, "/v1.0/emoney/transfer-bank-status.htm".to_owned()),
        ]),
        sign_out: SignOut::Type2,
        sign_in: SignIn::Type2,
        channel_id: ChannelIds::of(&["95221"]),
        query_key: QueryKey::Ours,
        retry: Retry::Same,
        validity: Duration::from_secs(60)..=Duration::from_hours(30 * 24),
        amounts: Rupiah::new(1)..=QRIS_MOST,
        void: true,
        refunds: Refunds { way: RefundWay::Debit, ..Refunds::default() },
        transfers: Transfers {
            resend: Resend::SameReference,
            wallet_info: ExtraMembers::of(&[("fundType", "MERCHANT_WITHDRAW_FOR_CORPORATE")]),
            wallet_details: WalletDetails::AdditionalInfo,
            ..Transfers::default()
        },
        qr_needs: &["merchant_id", "store_id"],
        ..Parameters::standard()
    }
}
