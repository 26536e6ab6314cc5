//! The filters of the list of payments, as the page's address holds them, and what is wrong with them.

use std::time::Duration;

use domain::{
    bank::Bank,
    method::{Method, MethodKind},
    payment::Status,
    rules::Invalid,
    time::Timestamp,
};
use engine::{MethodFilter, PaymentFilter};
use i18n_embed_fl::fl;
use url::form_urlencoded::Serializer;
use web::{page::moment::midnight_of, query::Query};

use crate::{
    labels::{method_name, payment_badge},
    words::Words,
};

const DAY: Duration = Duration::from_hours(24);
/// Times before and after every payment.
const BEGINNING: Timestamp = Timestamp::from_millis(0);
const END: Timestamp = Timestamp::from_millis(253_402_300_799_999);

/// The filters as they were typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) search: String,
    pub(crate) status: String,
    pub(crate) method: String,
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) link: String,
}

/// What is wrong, field by field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mistakes {
    pub(crate) search: Option<String>,
    pub(crate) status: Option<String>,
    pub(crate) method: Option<String>,
    pub(crate) from: Option<String>,
    pub(crate) to: Option<String>,
    pub(crate) link: Option<String>,
}

/// One option of a list to choose from.
pub(crate) struct Choice {
    pub(crate) value: String,
    pub(crate) label: String,
    pub(crate) chosen: bool,
}

/// A field that cannot be understood.
struct Wrong;

impl From<Invalid> for Wrong {
    fn from(_: Invalid) -> Wrong {
        Wrong
    }
}

impl Asked {
    pub(crate) fn of(query: &Query) -> Asked {
        let typed = |name: &str| query.text(name).ok().flatten().unwrap_or_default().to_owned();
        Asked {
            search: typed("search"),
            status: typed("status"),
            method: typed("method"),
            from: typed("from"),
            to: typed("to"),
            link: typed("link"),
        }
    }

    pub(crate) fn is_everything(&self) -> bool {
        *self == Asked::default()
    }

    /// The query that asks for the same again, without the number of a page.
    pub(crate) fn query(&self) -> String {
        let fields = [
            ("search", &self.search),
            ("status", &self.status),
            ("method", &self.method),
            ("from", &self.from),
            ("to", &self.to),
            ("link", &self.link),
        ];
        let mut query = Serializer::new(String::new());
        query.extend_pairs(fields.into_iter().filter(|(_, value)| !value.is_empty()));
        query.finish()
    }

    pub(crate) fn statuses(&self, words: Words) -> Vec<Choice> {
        let any = Choice { value: String::new(), label: fl!(words, "filter-any"), chosen: self.status.is_empty() };
        let one = |status: Status| Choice {
            value: status.word().to_owned(),
            label: payment_badge(words, status).text,
            chosen: self.status == status.word(),
        };
        std::iter::once(any).chain(Status::ALL.map(one)).collect()
    }

    pub(crate) fn methods(&self, words: Words) -> Vec<Choice> {
        let account = MethodKind::VirtualAccount.word();
        let fixed = [
            (String::new(), fl!(words, "filter-any")),
            (MethodKind::Qris.word().to_owned(), method_name(words, Method::Qris)),
            (account.to_owned(), fl!(words, "filter-any-account")),
        ];
        let banks = Bank::ALL.map(Method::VirtualAccount).map(|way| (way.to_string(), method_name(words, way)));
        let choice = |(value, label): (String, String)| Choice { chosen: value == self.method, value, label };
        fixed.into_iter().chain(banks).map(choice).collect()
    }
}

/// The filter that an address asks for at `now`, or what is wrong with it.
pub(crate) fn filter(query: &Query, now: Timestamp, words: Words) -> Result<PaymentFilter, Box<Mistakes>> {
    let mut mistakes = Box::<Mistakes>::default();
    let search = match query.text("search") {
        Ok(Some("")) => Ok(None),
        _ => query.search().map_err(Wrong::from),
    };
    let search = noted(search, &mut mistakes.search, || fl!(words, "filter-search-wrong"));
    let status = noted(read(query, "status", status), &mut mistakes.status, || fl!(words, "filter-choice-wrong"));
    let way = noted(read(query, "method", method), &mut mistakes.method, || fl!(words, "filter-choice-wrong"));
    let link_id =
        noted(read(query, "link", |text| text.parse().ok()), &mut mistakes.link, || fl!(words, "filter-link-wrong"));
    let day_wrong = || fl!(words, "filter-day-wrong");
    let from = noted(read(query, "from", midnight_of), &mut mistakes.from, day_wrong);
    let to = noted(read(query, "to", midnight_of), &mut mistakes.to, day_wrong);
    if from.zip(to).is_some_and(|(from, to)| to < from) {
        mistakes.to = Some(fl!(words, "filter-range-wrong"));
    }
    if *mistakes != Mistakes::default() {
        return Err(mistakes);
    }
    // Both days are included in full.
    let until = to.map(|to| to.plus(DAY));
    let created = (from.is_some() || until.is_some()).then(|| (from.unwrap_or(BEGINNING), until.unwrap_or(END)));
    Ok(PaymentFilter { search, link_id, status: status.map(|status| (status, now)), method: way, created })
}

/// What a field asks for; an empty field asks for nothing.
fn read<T>(query: &Query, name: &str, meaning: impl Fn(&str) -> Option<T>) -> Result<Option<T>, Wrong> {
    let text = query.text(name)?.filter(|text| !text.is_empty());
    text.map(|text| meaning(text).ok_or(Wrong)).transpose()
}

fn noted<T>(read: Result<Option<T>, Wrong>, mistake: &mut Option<String>, why: impl Fn() -> String) -> Option<T> {
    read.unwrap_or_else(|Wrong| {
        *mistake = Some(why());
        None
    })
}

fn status(text: &str) -> Option<Status> {
    Status::ALL.into_iter().find(|status| status.word() == text)
}

fn method(text: &str) -> Option<MethodFilter> {
    MethodKind::parse(text).map(MethodFilter::Kind).or_else(|| Method::parse(text).map(MethodFilter::One))
}

#[cfg(test)]
mod tests {
    use domain::language::Language;

    use super::*;
    use crate::words::words;

    const NOW: Timestamp = Timestamp::from_millis(1_794_648_600_000);

    fn asked(raw: &str) -> Result<PaymentFilter, Box<Mistakes>> {
        filter(&Query::parse(Some(raw)).unwrap(), NOW, words(Language::English))
    }

    #[test]
    fn a_filter_includes_whole_days_in_western_indonesia() {
        let days = |raw| asked(raw).unwrap().created.map(|(from, until)| [from, until].map(|at| at.to_string()));
        let day = ["2026-11-14T17:00:00.000Z".to_owned(), "2026-11-15T17:00:00.000Z".to_owned()];
        assert_eq!(days("from=2026-11-15&to=2026-11-15"), Some(day.clone()));
        assert_eq!(days("from=2026-11-15"), Some([day[0].clone(), END.to_string()]));
        assert_eq!(days("to=2026-11-15"), Some([BEGINNING.to_string(), day[1].clone()]));
        assert_eq!(days("from=&to=&search=&status=&method=&link="), None, "a form sends all of its fields");
    }

    #[test]
    fn a_mistake_is_shown_at_its_field_and_nowhere_else() {
        let fields_with_mistakes = |raw: &str| {
            let mistakes = asked(raw).unwrap_err();
            let fields = [
                ("search", mistakes.search),
                ("status", mistakes.status),
                ("method", mistakes.method),
                ("from", mistakes.from),
                ("to", mistakes.to),
                ("link", mistakes.link),
            ];
            fields.into_iter().filter(|(_, why)| why.is_some()).map(|(field, _)| field).collect::<Vec<_>>().join(" ")
        };
        for (raw, fields) in [
            ("status=PAID", "status"),
            ("status=paid&status=paid", "status"),
            ("method=virtual_account:bri2", "method"),
            ("from=2026-02-30", "from"),
            ("from=yesterday&to=15-11-2026", "from to"),
            ("from=2026-11-15&to=2026-11-14", "to"),
            ("link=prj_1", "link"),
            ("search=%00", "search"),
            (&format!("search={}", "a".repeat(256)), "search"),
        ] {
            assert_eq!(fields_with_mistakes(raw), fields, "{raw}");
        }
    }

    #[test]
    fn the_query_that_is_made_from_filters_asks_for_the_same_again() {
        let raw = "search=a%26b%3D%22%C3%A9+c&status=paid&method=virtual_account%3Abca&from=2026-11-01&to=2026-11-15";
        let asked = Asked::of(&Query::parse(Some(raw)).unwrap());
        assert_eq!((asked.query().as_str(), asked.search.as_str()), (raw, "a&b=\"é c"));
        assert!(Asked::of(&Query::parse(Some("status=&page=2")).unwrap()).is_everything());
    }
}
