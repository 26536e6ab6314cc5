//! BRIVA Online: BRI virtual accounts, hosted by us. Known from two or more sources: that the bank takes a token from us
//! and signs by type 1, the form of external ids, the channels, at most thirteen customer digits, and that an answer after
//! ten seconds suspends the payment. (1): that flag 01 and the listed 4xx codes reverse a payment, and that 429, 5xx and
//! flag 02 suspend it; that 4042518 is among the listed codes, so that a repeated payment request gets the stored answer:
//! 4042518 would give back money that is booked here; that the bank's list of members has neither totalAmount nor
//! flagAdvise; and that the company code may be padded with zeros.
//!
//! So where we do not know whether money is booked it gets a 5xx, which the bank lists as suspending.
//!
//! Ours: thirteen customer digits, and everything not named here. We call nothing at this bank.

use std::time::Duration;

use domain::bank::Bank;

use crate::snap::{
    parameters::Parameters,
    profile::Profile,
    values::{ChannelIds, Codes, ExternalId, Repeat, Undecided},
};

pub(super) const PROFILE: Profile = Profile {
    name: "briva-online",
    title: "BRI virtual account (BRIVA Online)",
    serves: Codes::Va,
    bank: Some(Bank::Bri),
    customer_digits_most: 13,
    defaults,
};

fn defaults() -> Parameters {
    Parameters {
        external_id: ExternalId::Alnum(36),
        channel_id: ChannelIds::of(&["00001-00009"]),
        customer_digits: 13,
        repeat: Repeat::Stored,
        deadline: Duration::from_secs(10),
        undecided: Undecided::Failure,
        ..Parameters::standard()
    }
}
