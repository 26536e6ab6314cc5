//! Any other bank: what the standard says, to be filled in by settings from the bank's documents. The paths are the
//! standard's, so that settings make it an account that we host, one that the bank hosts (`hosting=theirs`) or an
//! acquirer of QRIS (`codes=qris`); the rest is ours, and lenient where we read. So is `repeat`: a repeated payment request
//! gets the stored answer, on which every bank does what it would have done on the first; whether a bank wants 4042518
//! instead, and then goes by the flag, it must say itself.
//! A statement goes on at lastRecordDateTime while hasMore says so, which are the standard's members for it: its request has no
//! pages with numbers, which some banks may have (`statement_pages`).
//! So are the paths of refunds (78) and transfers, which an account has only where `refund` and `transfer` say so.
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
            (Service::QrRefund, "/v1.0/qr/qr-mpm-refund".to_owned()),
            (Service::Balance, "/v1.0/balance-inquiry".to_owned()),
            (Service::Statement, "/v1.0/bank-statement".to_owned()),
            (Service::AccountInternal, "/v1.0/account-inquiry-internal".to_owned()),
            (Service::AccountExternal, "/v1.0/account-inquiry-external".to_owned()),
            (Service::TransferIntrabank, "/v1.0/transfer-intrabank".to_owned()),
            (Service::TransferInterbank, "/v1.0/transfer-interbank".to_owned()),
            (Service::TransferRtgs, "/v1.0/transfer-rtgs".to_owned()),
            (Service::TransferSkn, "/v1.0/transfer-skn".to_owned()),
            (Service::TransferStatus, "/v1.0/transfer/status".to_owned()),
            (Service::WalletInquiry, "/v1.0/emoney/bank-account-inquiry".to_owned()),
            (Service::WalletTransfer, "/v1.0/emoney/transfer-bank".to_owned()),
            (Service::WalletStatus, "/v1.0/emoney/transfer-bank-status".to_owned()),
        ]),
        sign_out: SignOut::Type1,
        void: true,
        ..Parameters::standard()
    }
}
