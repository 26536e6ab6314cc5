//! The profiles, one file each: plain data. What a bank does differently is a parameter here, never an `if` elsewhere.
//!
//! Each file opens with what is known about the bank from how many independent sources: two or more unless it says
//! "(1)". What is marked as ours is no bank's word, and every value can be changed by an account's settings.

mod bca;
mod bni;
mod bri;
mod bri_qris;
mod briva_online;
mod briva_ws;
mod bsi;
mod dana;
mod doku;
mod generic;
mod mandiri;
mod midtrans;
mod qris;

use super::profile::Profile;

const ALL: [&Profile; 12] = [
    &bca::PROFILE,
    &briva_online::PROFILE,
    &bsi::PROFILE,
    &mandiri::PROFILE,
    &midtrans::PROFILE,
    &dana::PROFILE,
    &doku::PROFILE,
    &bri_qris::PROFILE,
    &briva_ws::PROFILE,
    &bri::PROFILE,
    &bni::PROFILE,
    &generic::PROFILE,
];

impl Profile {
    pub fn all() -> &'static [&'static Profile] {
        &ALL
    }

    pub fn named(name: &str) -> Option<&'static Profile> {
        ALL.into_iter().find(|profile| profile.name == name)
    }
}

#[cfg(test)]
mod tests;
