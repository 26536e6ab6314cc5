//! Mandiri virtual accounts, hosted by us. The bank's specification is not public. Known from two or more sources: the
//! path of the token. (1): signing, that a number has 17 to 19 digits, and that customerNo may hold the whole number.
//!
//! What it does with 5xx is not known, so where we do not know whether money is booked it gets the standard's word for that,
//! 2022500 with flag 02.
//!
//! Transfers. Known from two or more sources: that 11, 15 and 16 are below `customers`, and 14, 17, 18 and 36 below
//! `transactions`, each in a version of its own from 2.0 on. Not known: which version a contract has (`path.…`), members of
//! additionalInfo, the channel, and how long "not found" may be wrong. Ours: version 2.0 and the standard for the rest.
//!
//! Ours: twelve customer digits (with a company code of five, numbers have 17), that a repeated payment request gets the
//! stored answer, since nobody outside knows what the bank does on 4042518, and everything not named here.

use std::collections::BTreeMap;

use domain::bank::Bank;

use crate::snap::{
    parameters::Parameters,
    profile::Profile,
    sending::Transfers,
    values::{Codes, Service, SignOut},
};

pub(super) const PROFILE: Profile = Profile {
    name: "mandiri",
    title: "Mandiri virtual account",
    serves: Codes::Va,
    bank: Some(Bank::Mandiri),
    customer_digits_most: 18,
    defaults,
};

fn defaults() -> Parameters {
    Parameters {
        paths: BTreeMap::from([
            (Service::Token, "/openapi/auth/v2.0/access-token/b2b".to_owned()),
            (Service::Balance, "/openapi/customers/v2.0/balance-inquiry".to_owned()),
            (Service::AccountInternal, "/openapi/customers/v2.0/account-inquiry-internal".to_owned()),
            (Service::AccountExternal, "/openapi/customers/v2.0/account-inquiry-external".to_owned()),
            (Service::Statement, "/openapi/transactions/v2.0/bank-statement".to_owned()),
            (Service::TransferIntrabank, "/openapi/transactions/v2.0/transfer-intrabank".to_owned()),
            (Service::TransferInterbank, "/openapi/transactions/v2.0/transfer-interbank".to_owned()),
            (Service::TransferRtgs, "/openapi/transactions/v2.0/transfer-rtgs".to_owned()),
            (Service::TransferSkn, "/openapi/transactions/v2.0/transfer-skn".to_owned()),
            (Service::TransferStatus, "/openapi/transactions/v2.0/transfer/status".to_owned()),
        ]),
        sign_out: SignOut::Type1,
        customer_digits: 12,
        number_digits: 17..=19,
        transfers: Transfers { own_bank: Some("008".to_owned()), ..Transfers::default() },
        ..Parameters::standard()
    }
}
