//! `lunas bank profiles`: which banks are known, what each needs, and which settings there are. It needs no database.

use std::collections::BTreeMap;

use engine::{BankError, Missing, needs_of_profile};
use gateway::snap::{Profile, known_settings};
use serde::Serialize;

use crate::{
    error::CliError,
    output::{Output, table},
};

#[derive(Serialize)]
struct ProfileJson {
    name: &'static str,
    title: &'static str,
    /// Which codes it can issue: `va`, `qris` or `both`.
    codes: &'static str,
    /// The bank whose virtual accounts it serves; none: any bank's, where it serves virtual accounts.
    bank: Option<&'static str>,
    #[serde(skip)]
    serves: &'static str,
    /// The settings, keys and secrets that an account needs before it can be enabled.
    needs: Vec<&'static str>,
}

#[derive(Serialize)]
struct DescribedJson {
    #[serde(flatten)]
    profile: ProfileJson,
    settings: Vec<SettingJson>,
}

#[derive(Serialize)]
struct SettingJson {
    name: String,
    /// The profile's value; none where only an account can have one.
    value: Option<String>,
    allowed: &'static str,
}

impl ProfileJson {
    fn of(profile: &'static Profile) -> Result<ProfileJson, CliError> {
        let needs = needs_of_profile(profile).map_err(engine::Error::from)?;
        Ok(ProfileJson {
            name: profile.name,
            title: profile.title,
            codes: profile.serves.word(),
            bank: profile.bank.map(|bank| bank.code()),
            serves: profile.served(profile.serves),
            needs: needs.into_iter().map(Missing::name).collect(),
        })
    }
}

pub(super) fn run(name: Option<&str>, output: Output) -> Result<(), CliError> {
    match name {
        Some(name) => describe(name, output),
        None => list(output),
    }
}

fn list(output: Output) -> Result<(), CliError> {
    let profiles: Vec<ProfileJson> =
        Profile::all().iter().map(|profile| ProfileJson::of(profile)).collect::<Result<_, _>>()?;
    output.show(profiles.as_slice(), |profiles| {
        let row = |profile: &ProfileJson| {
            [profile.name.to_owned(), profile.serves.to_owned(), profile.title.to_owned(), profile.needs.join(", ")]
        };
        let rows: Vec<_> = profiles.iter().map(row).collect();
        let table = table(["NAME", "SERVES", "TITLE", "NEEDS"], &rows);
        format!("{table}\n\n`lunas bank profiles NAME` lists the settings of one.")
    })
}

fn describe(name: &str, output: Output) -> Result<(), CliError> {
    let unknown = || engine::Error::from(BankError::NoProfile(name.escape_debug().to_string()));
    let profile = Profile::named(name).ok_or_else(unknown)?;
    let parameters = profile.parameters(&BTreeMap::new()).map_err(BankError::from).map_err(engine::Error::from)?;
    let mut values: BTreeMap<String, String> = parameters.in_force().into_iter().collect();
    let setting = |(name, allowed): (String, &'static str)| SettingJson { value: values.remove(&name), name, allowed };
    let settings = known_settings().map(setting).collect();
    let described = DescribedJson { profile: ProfileJson::of(profile)?, settings };
    output.show(&described, |described| {
        let row = |setting: &SettingJson| {
            [setting.name.clone(), setting.value.clone().unwrap_or_default(), setting.allowed.to_owned()]
        };
        let rows: Vec<_> = described.settings.iter().map(row).collect();
        let table = table(["SETTING", "VALUE", "MAY BE"], &rows);
        format!("{}: needs {}\n\n{table}", described.profile.title, described.profile.needs.join(", "))
    })
}
