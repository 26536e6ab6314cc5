//! The profiles, one file each: plain data. What a bank does differently is a parameter here, never an `if` elsewhere.
//!
//! Each file opens with what is known about the bank from how many independent sources: two or more unless it says
//! "(1)". What is marked as ours is no bank's word, and every value can be changed by an account's settings.

mod bca;
mod briva_online;
mod bsi;
mod generic;
mod mandiri;

use super::profile::Profile;

const ALL: [&Profile; 5] = [&bca::PROFILE, &briva_online::PROFILE, &bsi::PROFILE, &mandiri::PROFILE, &generic::PROFILE];

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
