//! The filters of the list of refunds, as the page's address holds them, what is wrong with them, and the links that change
//! one of them.

use domain::{id::PaymentId, refund::RefundStatus, time::Timestamp};
use engine::RefundFilter;
use i18n_embed_fl::fl;
use url::form_urlencoded::Serializer;
use web::{page::moment::midnight_of, query::Query};

use super::wording::status_name;
use crate::{
    payments::{
        period::{DAY, Period},
        picks::Pick,
    },
    words::Words,
};

/// Times before and after every refund.
const BEGINNING: Timestamp = Timestamp::from_millis(0);
const END: Timestamp = Timestamp::from_millis(253_402_300_799_999);

/// The filters as they were typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TypedFilter {
    pub(crate) status: String,
    pub(crate) payment: String,
    /// Days by name; empty where they are chosen by dates.
    pub(crate) period: String,
    pub(crate) from: String,
    pub(crate) to: String,
}

/// What is wrong, field by field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mistakes {
    pub(crate) status: bool,
    pub(crate) payment: Option<String>,
    pub(crate) from: Option<String>,
    pub(crate) to: Option<String>,
}

impl TypedFilter {
    pub(crate) fn of(query: &Query) -> TypedFilter {
        let typed = |name: &str| query.text(name).ok().flatten().unwrap_or_default().trim().to_owned();
        let (from, to) = (typed("from"), typed("to"));
        TypedFilter {
            status: typed("status"),
            payment: typed("payment"),
            // A form whose dates are filled in still sends the name of the days that were listed before.
            period: if from.is_empty() && to.is_empty() { typed("period") } else { String::new() },
            from,
            to,
        }
    }

    pub(crate) fn is_everything(&self) -> bool {
        *self == TypedFilter::default()
    }

    /// The query that asks for the same again, without the number of a page.
    pub(crate) fn query(&self) -> String {
        let fields = [
            ("status", &self.status),
            ("payment", &self.payment),
            ("period", &self.period),
            ("from", &self.from),
            ("to", &self.to),
        ];
        let mut query = Serializer::new(String::new());
        query.extend_pairs(fields.into_iter().filter(|(_, value)| !value.is_empty()));
        query.finish()
    }

    /// The list at `path` that asks for the same but for what `change` changes.
    fn url(&self, path: &str, change: impl FnOnce(&mut TypedFilter)) -> String {
        let mut asked = self.clone();
        change(&mut asked);
        let query = asked.query();
        let mark = if query.is_empty() { "" } else { "?" };
        format!("{path}{mark}{query}")
    }

    pub(crate) fn tabs(&self, path: &str, words: Words) -> Vec<Pick> {
        let pick = |word: &str, label: String| Pick {
            url: self.url(path, |asked| word.clone_into(&mut asked.status)),
            label,
            is_chosen: self.status == word,
        };
        let statuses = RefundStatus::ALL.iter().map(|status| pick(status.word(), status_name(words, *status)));
        std::iter::once(pick("", fl!(words, "filter-any"))).chain(statuses).collect()
    }

    pub(crate) fn periods(&self, path: &str, words: Words) -> Vec<Pick> {
        let pick = |word: &str, label: String, is_chosen: bool| Pick {
            url: self.url(path, |asked| {
                word.clone_into(&mut asked.period);
                asked.from.clear();
                asked.to.clear();
            }),
            label,
            is_chosen,
        };
        let is_always = [&self.period, &self.from, &self.to].iter().all(|text| text.is_empty());
        let always = pick("", fl!(words, "period-always"), is_always);
        let named = |period: Period| pick(period.word(), period.name(words), self.period == period.word());
        std::iter::once(always).chain(Period::ALL.map(named)).collect()
    }

    /// What the address asks for at `now`, or what is wrong with it.
    pub(crate) fn filter(&self, now: Timestamp, words: Words) -> Result<RefundFilter, Mistakes> {
        let day_wrong = || fl!(words, "filter-day-wrong");
        let status = read(&self.status, RefundStatus::parse);
        let payment = read(&self.payment, |text| text.parse::<PaymentId>().ok());
        let named = read(&self.period, Period::parse);
        let (from, to) = (read(&self.from, midnight_of), read(&self.to, midnight_of));
        let mut mistakes = Mistakes {
            status: status.is_err(),
            payment: payment.is_err().then(|| fl!(words, "refunds-payment-wrong")),
            from: from.is_err().then(day_wrong).or_else(|| named.is_err().then(|| fl!(words, "filter-period-wrong"))),
            to: to.is_err().then(day_wrong),
        };
        if matches!((&from, &to), (Ok(Some(from)), Ok(Some(to))) if to < from) {
            mistakes.to = Some(fl!(words, "filter-range-wrong"));
        }
        let (Ok(status), Ok(payment), Ok(named), Ok(from), Ok(to)) = (status, payment, named, from, to) else {
            return Err(mistakes);
        };
        if mistakes != Mistakes::default() {
            return Err(mistakes);
        }
        // Both days are included in full.
        let created = match (from, to.map(|to| to.plus(DAY))) {
            (None, None) => named.map(|period| period.span(now)),
            (from, until) => Some((from.unwrap_or(BEGINNING), until.unwrap_or(END))),
        };
        Ok(RefundFilter { status, payment, created, ..RefundFilter::default() })
    }
}

/// A field that cannot be understood.
struct Wrong;

/// What a field asks for; an empty field asks for nothing.
fn read<T>(text: &str, meaning: impl Fn(&str) -> Option<T>) -> Result<Option<T>, Wrong> {
    if text.is_empty() { Ok(None) } else { meaning(text).map(Some).ok_or(Wrong) }
}

#[cfg(test)]
mod tests {
    use domain::language::Language;

    use super::*;
    use crate::words::words;

    const NOW: Timestamp = Timestamp::from_millis(1_794_648_600_000);

    fn filter_of(raw: &str) -> Result<RefundFilter, Mistakes> {
        TypedFilter::of(&Query::parse(Some(raw))).filter(NOW, words(Language::English))
    }

    #[test]
    fn a_filter_includes_whole_days_in_western_indonesia() {
        let days = |raw| filter_of(raw).unwrap().created.map(|(from, until)| [from, until].map(|at| at.to_string()));
        let day = ["2026-11-14T17:00:00.000Z".to_owned(), "2026-11-15T17:00:00.000Z".to_owned()];
        assert_eq!(days("from=2026-11-15&to=2026-11-15"), Some(day.clone()));
        assert_eq!(days("from=&to=&status=&payment=&period="), None, "a form sends all of its fields");
        assert_eq!(days("period=today&from=2026-11-15&to=2026-11-15"), Some(day), "dates count before a name");
    }

    #[test]
    fn a_mistake_is_shown_at_its_field_and_nowhere_else() {
        let fields_with_mistakes = |raw: &str| {
            let mistakes = filter_of(raw).unwrap_err();
            let fields = [
                ("status", mistakes.status),
                ("payment", mistakes.payment.is_some()),
                ("from", mistakes.from.is_some()),
                ("to", mistakes.to.is_some()),
            ];
            fields.into_iter().filter(|(_, wrong)| *wrong).map(|(field, _)| field).collect::<Vec<_>>().join(" ")
        };
        for (raw, fields) in [
            ("status=SUCCEEDED", "status"),
            ("payment=rfd_1", "payment"),
            ("from=2026-02-30", "from"),
            ("from=yesterday&to=15-11-2026", "from to"),
            ("from=2026-11-15&to=2026-11-14", "to"),
            ("period=tomorrow", "from"),
        ] {
            assert_eq!(fields_with_mistakes(raw), fields, "{raw}");
        }
    }

    #[test]
    fn a_link_changes_one_filter_and_keeps_the_rest() {
        let asked = TypedFilter::of(&Query::parse(Some("status=failed&period=today&page=3")));
        let words = words(Language::English);
        let tabs = asked.tabs("/x", words);
        assert_eq!((tabs[0].url.as_str(), tabs[0].is_chosen), ("/x?period=today", false));
        let chosen: Vec<&str> = tabs.iter().filter(|tab| tab.is_chosen).map(|tab| tab.url.as_str()).collect();
        assert_eq!(chosen, ["/x?status=failed&period=today"]);
        assert_eq!(asked.periods("/x", words)[0].url, "/x?status=failed");
    }
}
