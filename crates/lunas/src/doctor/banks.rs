//! What `lunas doctor` says about bank accounts: those that are enabled, the projects that should take money by them, and strays. It
//! calls no bank.

use domain::{
    bank_account::{KEY_AGE_MOST, Stage},
    project::{Environment, Project},
    time::{DAY, Timestamp},
};
use engine::{BankAccountFile, Engine, NUMBERS_LOW_PERCENT, OpenStrays};

use super::point::Point;
use crate::{error::CliError, options::PublicUrl};

pub(super) const ACCOUNTS: &str = "bank accounts";
const URL: &str = "public URL";
const KEYS: &str = "bank keys";
const CALLS: &str = "bank calls";
const NUMBERS: &str = "bank numbers";
const PROJECTS: &str = "bank projects";
const METHODS: &str = "production methods";
const STRAYS: &str = "strays";

pub(super) async fn examine(engine: &Engine, public_url: &PublicUrl, now: Timestamp) -> Result<Vec<Point>, CliError> {
    let is_development = engine.is_development().await?;
    let files = engine.bank_accounts().await?;
    let enabled: Vec<&BankAccountFile> = files.iter().filter(|file| file.account.enabled).collect();
    let mut points = Vec::new();
    if !files.is_empty() {
        points.push(Point::ok(ACCOUNTS, format!("{} enabled of {}", enabled.len(), files.len())));
    }
    if !enabled.is_empty() {
        points.push(url(public_url.checked(is_development), is_development));
    }
    points.extend(enabled.into_iter().flat_map(|file| account(file, now)));
    points.extend(engine.projects().await?.iter().filter_map(methods));
    let open = engine.open_strays().await?;
    if open.count > 0 || !files.is_empty() {
        points.push(strays(open));
    }
    Ok(points)
}

fn url(found: Result<Option<String>, CliError>, is_development: bool) -> Point {
    match found {
        Ok(Some(url)) => Point::ok(URL, format!("banks reach us below {url}/snap")),
        Ok(None) if is_development => Point::ok(URL, "not set; `lunas dev` uses the address that it listens on"),
        Ok(None) => {
            let mend = "set it here as for `lunas serve`, to the https URL at which banks reach us";
            Point::warning(URL, format!("LUNAS_BASE_URL is not set; {mend}"))
        }
        Err(error) => Point::failure(URL, error.reasons().join("; ")),
    }
}

fn account(file: &BankAccountFile, now: Timestamp) -> [Point; 4] {
    let whom = format!("{} ({})", file.account.name, file.account.id);
    [keys(file, &whom, now), calls(file, &whom), numbers(file, &whom), assigned(file, &whom)]
}

fn keys(file: &BankAccountFile, whom: &str, now: Timestamp) -> Point {
    let in_use = || file.credentials.iter().filter(|credential| credential.stage == Stage::Current);
    let old: Vec<&str> = in_use().filter(|credential| credential.is_old(now)).map(|old| old.kind.word()).collect();
    let days = |set_at: Timestamp| set_at.until(now).as_secs() / DAY.as_secs();
    let oldest = in_use().map(|credential| days(credential.set_at)).max().unwrap_or_default();
    match old.as_slice() {
        [] => Point::ok(KEYS, format!("{whom}: the oldest key or secret in use is {oldest} days old")),
        old => {
            let what = format!("older than {} days: {}", KEY_AGE_MOST.as_secs() / DAY.as_secs(), old.join(", "));
            let mend = "agree on new ones with the bank, set them, and run `lunas bank rotate`";
            Point::warning(KEYS, format!("{whom}: {what}; {mend}"))
        }
    }
}

fn calls(file: &BankAccountFile, whom: &str) -> Point {
    match file.calls.first() {
        Some(call) => Point::ok(CALLS, format!("{whom}: the bank's last call was at {}", call.at)),
        None => {
            let mend = "check with it the address that `lunas bank show` prints";
            Point::warning(CALLS, format!("{whom}: the bank has never called; {mend}"))
        }
    }
}

fn numbers(file: &BankAccountFile, whom: &str) -> Point {
    let percent = file.numbers_taken_percent();
    let finding = format!("{whom}: {percent} % of its numbers are in use or rest");
    match percent >= NUMBERS_LOW_PERCENT {
        true => {
            Point::warning(NUMBERS, format!("{finding}; raise `customer_digits`, or ask the bank for another prefix"))
        }
        false => Point::ok(NUMBERS, finding),
    }
}

fn assigned(file: &BankAccountFile, whom: &str) -> Point {
    match file.assignments.len() {
        0 => Point::warning(PROJECTS, format!("{whom}: no project uses it; `lunas bank assign` lets one")),
        count => Point::ok(PROJECTS, format!("{whom}: methods of projects that use it: {count}")),
    }
}

/// A production project that may take money and cannot.
fn methods(project: &Project) -> Option<Point> {
    let can_take = project.accounts.iter().any(|assigned| project.offers(assigned.method));
    if project.environment != Environment::Production || !project.is_usable() || can_take {
        return None;
    }
    let what = format!("{} ({}) is approved, and no method of it can take money", project.name, project.id);
    Some(Point::warning(METHODS, format!("{what}; assign an enabled account with `lunas bank assign`")))
}

fn strays(open: OpenStrays) -> Point {
    match open.count {
        0 => Point::ok(STRAYS, "none is open"),
        count => {
            let what = format!("{count} of {} in all wait for a decision", open.amount);
            Point::warning(STRAYS, format!("{what}; `lunas bank strays` lists them"))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use domain::bank_account::BankAccount;
    use engine::NumbersTaken;
    use gateway::snap::Profile;

    use super::*;
    use crate::doctor::point::Verdict;

    /// An account whose numbers have six digits.
    fn with_numbers(count: i64) -> BankAccountFile {
        let settings = BTreeMap::from([("customer_digits".to_owned(), "6".to_owned())]);
        let profile = Profile::named("generic").unwrap();
        BankAccountFile {
            account: BankAccount {
                id: domain::id::mint(Timestamp::from_millis(1), [0; 10]),
                name: "Toko".to_owned(),
                profile: profile.name.to_owned(),
                settings: settings.clone(),
                enabled: true,
                created_at: Timestamp::from_millis(1),
                version: 1,
            },
            profile,
            parameters: profile.parameters(&settings).unwrap(),
            credentials: Vec::new(),
            assignments: Vec::new(),
            missing: Vec::new(),
            numbers_taken: NumbersTaken { count, is_estimate: false },
            calls: Vec::new(),
        }
    }

    #[test]
    fn numbers_that_run_low_are_a_warning() {
        for (taken, verdict) in
            [(0, Verdict::Ok), (799_999, Verdict::Ok), (800_000, Verdict::Warning), (1_000_000, Verdict::Warning)]
        {
            let point = numbers(&with_numbers(taken), "Toko");
            assert_eq!(point.verdict, verdict, "{taken}: {}", point.finding);
        }
    }

    #[test]
    fn development_needs_no_public_url() {
        assert_eq!(url(Ok(None), true).verdict, Verdict::Ok);
        assert_eq!(url(Ok(None), false).verdict, Verdict::Warning);
    }
}
