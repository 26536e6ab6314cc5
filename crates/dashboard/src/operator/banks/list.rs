//! All bank accounts with their health at a glance.

use askama::Template;
use axum::{http::StatusCode, response::Response};
use domain::{bank_account::Stage, time::Timestamp};
use engine::{BankAccountFile, NUMBERS_LOW_PERCENT, OpenStrays};
use i18n_embed_fl::fl;
use web::page::{moment::Moment, page_error::PageError};

use super::{
    figures,
    wording::{Use, answer, credential_name, missing, service, state, uses},
};
use crate::{
    labels::Badge,
    operator::tabs::{PATH, Tab, bank_path},
    page::OperatorPage,
    shell::Shell,
    words::Words,
};

/// How an operator begins.
const BEGIN: &str = "lunas bank add --profile bca --name \"BCA\" --set partner_service_id=12345";

#[derive(Template)]
#[template(path = "operator/banks/list.html")]
pub(crate) struct BanksPage {
    pub(crate) shell: Shell,
    pub(crate) tab: Tab,
    pub(crate) base: String,
    pub(crate) rows: Vec<AccountRow>,
    /// The command that creates an account.
    pub(crate) begin: String,
    /// How much money fits no payment; none where there is none.
    pub(crate) strays: Option<String>,
    /// How many differences are open; none where none are.
    pub(crate) differences: Option<String>,
}

pub(crate) struct AccountRow {
    pub(crate) url: String,
    pub(crate) name: String,
    /// What its profile is called.
    pub(crate) profile: String,
    pub(crate) state: Badge,
    pub(crate) uses: Vec<Use>,
    pub(crate) last_call: Option<LastCall>,
    pub(crate) numbers: String,
    pub(crate) warnings: Vec<String>,
}

pub(crate) struct LastCall {
    pub(crate) at: Moment,
    pub(crate) service: String,
    pub(crate) answer: Badge,
}

pub(crate) async fn show(page: OperatorPage) -> Result<Response, PageError> {
    let (shell, words) = (page.shell().await?, page.words());
    let mut rows = Vec::new();
    for file in page.operator.bank_accounts().await? {
        let health = page.operator.bank_health(&file).await?;
        rows.push(AccountRow {
            url: page.url(bank_path(file.account.id)),
            profile: file.profile.title.to_owned(),
            state: state(words, &file),
            uses: uses(&page, &file.assignments).await?,
            last_call: file.last_call_of_bank().map(|call| LastCall {
                at: page.moment(call.at),
                service: service(words, call.service),
                answer: answer(words, &file, call.outbound, call.service, &call.code),
            }),
            numbers: numbers(words, &file),
            warnings: warnings(words, page.now(), &file).into_iter().chain(figures::warnings(&page, &health)).collect(),
            name: file.account.name,
        });
    }
    let view = BanksPage {
        tab: Tab::Banks,
        base: page.url(PATH),
        rows,
        begin: BEGIN.to_owned(),
        strays: strays(words, page.operator.open_strays().await?),
        differences: differences(words, page.operator.open_differences().await?),
        shell,
    };
    Ok(page.render(StatusCode::OK, &view))
}

/// How many of the account's numbers are taken; empty where it gives out none.
pub(super) fn numbers(words: Words, file: &BankAccountFile) -> String {
    if !file.parameters.codes.has_va() {
        return String::new();
    }
    let (percent, count) = (file.numbers_taken_percent(), file.numbers_taken.count);
    match file.numbers_taken.is_estimate {
        true => fl!(words, "bank-numbers-about", percent = percent, count = count),
        false => fl!(words, "bank-numbers", percent = percent, count = count),
    }
}

/// What an operator should do something about.
pub(super) fn warnings(words: Words, now: Timestamp, file: &BankAccountFile) -> Vec<String> {
    let mut warnings = Vec::new();
    if !file.missing.is_empty() {
        let names = missing(words, &file.missing);
        warnings.push(fl!(words, "bank-warn-missing", names = names));
    }
    let percent = file.numbers_taken_percent();
    if percent >= NUMBERS_LOW_PERCENT {
        warnings.push(fl!(words, "bank-warn-numbers", percent = percent));
    }
    let in_use = file.credentials.iter().filter(|credential| credential.stage == Stage::Current);
    for credential in in_use.filter(|credential| credential.is_old(now)) {
        let name = credential_name(words, credential.kind);
        warnings.push(fl!(words, "bank-warn-old", name = name));
    }
    warnings
}

fn strays(words: Words, open: OpenStrays) -> Option<String> {
    let (count, amount) = (open.count, open.amount.to_string());
    (count > 0).then(|| fl!(words, "banks-strays", count = count, amount = amount))
}

fn differences(words: Words, count: i64) -> Option<String> {
    (count > 0).then(|| fl!(words, "banks-differences", count = count))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use domain::{bank_account::BankAccount, id::mint, language::Language};
    use engine::NumbersTaken;
    use gateway::snap::Profile;

    use super::*;
    use crate::words::words;

    #[test]
    fn operators_are_warned_when_four_of_five_numbers_are_taken() {
        let settings = BTreeMap::from([("customer_digits".to_owned(), "6".to_owned())]);
        let (now, profile) = (Timestamp::from_millis(1_794_753_000_000), Profile::named("bca").unwrap());
        let file = |count, is_estimate| BankAccountFile {
            parameters: profile.parameters(&settings).unwrap(),
            account: BankAccount {
                id: mint(now, [7; domain::id::ENTROPY_BYTES]),
                name: "BCA".to_owned(),
                profile: "bca".to_owned(),
                settings: settings.clone(),
                enabled: true,
                created_at: now,
                version: 1,
            },
            profile,
            credentials: Vec::new(),
            assignments: Vec::new(),
            missing: Vec::new(),
            numbers_taken: NumbersTaken { count, is_estimate },
            calls: Vec::new(),
            unproved: Vec::new(),
        };
        let words = words(Language::English);
        for (taken, is_estimate, shown, warned) in [
            (0, false, "0% (0)", 0),
            (799_999, true, "79% (about 799,999)", 0),
            (800_000, true, "80% (about 800,000)", 1),
        ] {
            let file = file(taken, is_estimate);
            assert_eq!(numbers(words, &file), shown);
            assert_eq!(warnings(words, now, &file).len(), warned, "{taken}");
        }
    }
}
