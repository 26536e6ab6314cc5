//! What `lunas doctor` says about bank accounts: those that are enabled, the projects that should take money by them, strays, and
//! differences. It calls no bank.

use domain::{
    bank_account::{KEY_AGE_MOST, Stage},
    project::{Environment, Project},
    time::{DAY, Timestamp},
};
use engine::{BankAccountFile, BankHealth, Engine, NUMBERS_LOW_PERCENT, OpenStrays};

use super::point::Point;
use crate::{error::CliError, options::PublicUrl};

pub(super) const ACCOUNTS: &str = "bank accounts";
const URL: &str = "public URL";
const KEYS: &str = "bank keys";
const CALLS: &str = "bank calls";
const OUR_CALLS: &str = "calls to banks";
const JOBS: &str = "bank jobs";
const NUMBERS: &str = "bank numbers";
const PROJECTS: &str = "bank projects";
const METHODS: &str = "production methods";
const STRAYS: &str = "strays";
const DIFFERENCES: &str = "bank differences";

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
    for file in enabled {
        points.extend(account(file, now));
        if file.calls_bank() {
            points.extend(asking(file, &engine.bank_health(file).await?, now));
        }
    }
    points.extend(engine.projects().await?.iter().filter_map(methods));
    let open = engine.open_strays().await?;
    if open.count > 0 || !files.is_empty() {
        points.push(strays(open));
    }
    points.extend(differences(engine.open_differences().await?));
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

/// What is said of an account whose bank we call.
fn asking(file: &BankAccountFile, health: &BankHealth, now: Timestamp) -> [Point; 2] {
    let whom = format!("{} ({})", file.account.name, file.account.id);
    let ours = match &health.failing {
        Some(failing) => {
            let what = format!("the latest {} failed, since {} ({})", failing.count, failing.since, failing.code);
            Point::warning(
                OUR_CALLS,
                format!("{whom}: {what}; `lunas bank test {}` says what to check", file.account.id),
            )
        }
        None => Point::ok(OUR_CALLS, format!("{whom}: none of the latest has failed")),
    };
    let jobs = match health.jobs.oldest_due_at.filter(|_| health.is_late(now)) {
        Some(due) => {
            let what = format!("{} wait to be asked, the oldest since {due}", health.jobs.count);
            Point::warning(JOBS, format!("{whom}: {what}; check that a server runs, and that it reaches the bank"))
        }
        None => Point::ok(JOBS, format!("{whom}: nothing waits for longer than ten minutes")),
    };
    [ours, jobs]
}

fn calls(file: &BankAccountFile, whom: &str) -> Point {
    match file.last_call_of_bank() {
        Some(call) => Point::ok(CALLS, format!("{whom}: the bank's last call was at {}", call.at)),
        // A bank that issues codes calls when the first is paid.
        None if file.parameters.issues_by_call() => Point::ok(CALLS, format!("{whom}: the bank has not called yet")),
        None => {
            let mend = "check with it the addresses that `lunas bank show` prints";
            let without_proof = match file.unproved.len() {
                0 => String::new(),
                count => format!(" (calls at its doors without proof: {count})"),
            };
            Point::warning(CALLS, format!("{whom}: the bank has never called{without_proof}; {mend}"))
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
            let what = match open.unreadable {
                0 => format!("{count} of {} in all wait for a decision", open.amount),
                some => format!("{count} of {} in all wait for a decision, {some} of them unreadable", open.amount),
            };
            Point::warning(STRAYS, format!("{what}; `lunas bank strays` lists them"))
        }
    }
}

fn differences(open: i64) -> Option<Point> {
    let what = || format!("{open} wait for somebody to see to them; `lunas bank differences` lists them");
    (open > 0).then(|| Point::warning(DIFFERENCES, what()))
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, time::Duration};

    use domain::bank_account::BankAccount;
    use engine::NumbersTaken;
    use engine::{FailingCalls, JobsWaiting};
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
            unproved: Vec::new(),
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

    #[test]
    fn a_job_that_waits_for_ten_minutes_and_calls_that_fail_are_warnings() {
        let now = Timestamp::from_millis(1_794_753_000_000);
        let judged = |waits: Duration, failing: Option<FailingCalls>| {
            let jobs = JobsWaiting { count: 3, oldest_due_at: Some(now.minus(waits)) };
            let health = BankHealth { groups: Vec::new(), token_at: None, jobs, is_suspended: false, failing };
            asking(&with_numbers(0), &health, now)
        };
        let ten = Duration::from_mins(10);
        assert_eq!(judged(ten, None).map(|point| point.verdict), [Verdict::Ok, Verdict::Ok]);
        let [_, late] = judged(ten + Duration::from_millis(1), None);
        assert_eq!(late.verdict, Verdict::Warning);
        assert!(late.finding.contains("3 wait to be asked"), "{}", late.finding);
        let failing = FailingCalls { count: 2, since: now, code: "timeout".to_owned() };
        let [calls, _] = judged(Duration::ZERO, Some(failing));
        assert_eq!(calls.verdict, Verdict::Warning);
        assert!(
            calls.finding.contains("the latest 2 failed") && calls.finding.contains("timeout"),
            "{}",
            calls.finding
        );
    }
}
