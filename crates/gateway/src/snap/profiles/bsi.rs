//! BSI virtual accounts, hosted by us. (1), all of it: that the bank takes a token from us and signs by type 1, the
//! channels, that X-EXTERNAL-ID is the request's id, that a repeated payment request is answered with the first 2002500
//! again (what the bank does on 4042518 is not known), 4042420 for an inquiry about an expired bill, a code that ends in 11
//! for bad data, and the token type.
//!
//! What it does with 5xx is not known, so where we do not know whether money is booked it gets the standard's word for that,
//! 2022500 with flag 02.
//!
//! Ours: that bad data is 404xx11 (the source gives the ending, the standard has it with 404), twelve customer digits, and
//! everything not named here. We call nothing at this bank.

use domain::bank::Bank;

use crate::snap::{
    parameters::Parameters,
    profile::Profile,
    values::{ChannelIds, Codes, ExternalId, Repeat, ResponseCase},
};

pub(super) const PROFILE: Profile = Profile {
    name: "bsi",
    title: "BSI virtual account",
    serves: Codes::Va,
    bank: Some(Bank::Bsi),
    customer_digits_most: 18,
    defaults,
};

fn defaults() -> Parameters {
    Parameters {
        external_id: ExternalId::Reference,
        channel_id: ChannelIds::of(&["60xx", "6199"]),
        customer_digits: 12,
        repeat: Repeat::Stored,
        token_type: "BearerToken".to_owned(),
        inquiry_expired: ResponseCase::new(404, 20),
        bad_data: ResponseCase::new(404, 11),
        ..Parameters::standard()
    }
}
