//! The filters of the list of payments, as the page's address holds them, and what is wrong with them.

use domain::{
    bank::Bank,
    id::LinkId,
    method::{Method, MethodKind},
    payment::Status,
    rules::Invalid,
    time::Timestamp,
};
use engine::{MethodFilter, PaymentFilter, PaymentOrder};
use i18n_embed_fl::fl;
use url::form_urlencoded::Serializer;
use web::{page::moment::midnight_of, query::Query};

use crate::{
    labels::{method_name, payment_badge},
    payments::period::{DAY, Period},
    search_term::search_term,
    words::Words,
};

/// Times before and after every payment.
const BEGINNING: Timestamp = Timestamp::from_millis(0);
const END: Timestamp = Timestamp::from_millis(253_402_300_799_999);

/// The words for an order in the address; the newest first needs none.
const ORDERS: [(&str, PaymentOrder); 3] = [
    ("oldest", PaymentOrder::Oldest),
    ("highest", PaymentOrder::AmountHighest),
    ("lowest", PaymentOrder::AmountLowest),
];

/// The filters as they were typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TypedFilter {
    pub(crate) q: String,
    pub(crate) status: String,
    pub(crate) method: String,
    /// Days by name; empty where they are chosen by dates.
    pub(crate) period: String,
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) link: String,
    pub(crate) sort: String,
}

/// What is wrong, field by field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mistakes {
    pub(crate) q: Option<String>,
    pub(crate) status: Option<String>,
    pub(crate) method: Option<String>,
    pub(crate) from: Option<String>,
    pub(crate) to: Option<String>,
    pub(crate) link: Option<String>,
    pub(crate) sort: Option<String>,
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

impl TypedFilter {
    pub(crate) fn of(query: &Query) -> TypedFilter {
        let typed = |name: &str| query.text(name).ok().flatten().unwrap_or_default().to_owned();
        let (from, to) = (typed("from"), typed("to"));
        TypedFilter {
            // Addresses that were bookmarked before everything could be searched call it `search`.
            q: Some(typed("q")).filter(|q| !q.is_empty()).unwrap_or_else(|| typed("search")),
            status: typed("status"),
            method: typed("method"),
            // A form whose dates are filled in still sends the name of the days that were listed before.
            period: if from.is_empty() && to.is_empty() { typed("period") } else { String::new() },
            from,
            to,
            link: typed("link"),
            sort: typed("sort"),
        }
    }

    /// Whether no filter is set; the order is none.
    pub(crate) fn is_everything(&self) -> bool {
        TypedFilter { sort: String::new(), ..self.clone() } == TypedFilter::default()
    }

    /// Whether payments of all days are listed.
    pub(crate) fn is_always(&self) -> bool {
        [&self.period, &self.from, &self.to].iter().all(|text| text.is_empty())
    }

    /// The query that asks for the same again, without the number of a page.
    pub(crate) fn query(&self) -> String {
        let fields = [
            ("q", &self.q),
            ("status", &self.status),
            ("method", &self.method),
            ("period", &self.period),
            ("from", &self.from),
            ("to", &self.to),
            ("link", &self.link),
            ("sort", &self.sort),
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

    pub(crate) fn sorts(&self, words: Words) -> Vec<Choice> {
        let choice = |value: &str, label: String| Choice { value: value.to_owned(), label, chosen: self.sort == value };
        vec![
            choice("", fl!(words, "sort-newest")),
            choice("oldest", fl!(words, "sort-oldest")),
            choice("highest", fl!(words, "sort-highest")),
            choice("lowest", fl!(words, "sort-lowest")),
        ]
    }
}

impl Mistakes {
    /// Whether one of them is in the part of the form that is closed at first.
    pub(crate) fn are_inside(&self) -> bool {
        Mistakes { q: None, ..self.clone() } != Mistakes::default()
    }
}

/// The filter that an address asks for at `now`, or what is wrong with it. `link` is the link that it names.
pub(crate) fn filter(
    query: &Query,
    link: Result<Option<LinkId>, String>,
    now: Timestamp,
    words: Words,
) -> Result<PaymentFilter, Box<Mistakes>> {
    let mut mistakes = Box::<Mistakes>::default();
    let asked = TypedFilter::of(query);
    let q = search_term(words, &asked.q).unwrap_or_else(|why| {
        mistakes.q = Some(why);
        None
    });
    if query.text("q").is_err() || query.text("search").is_err() {
        mistakes.q = Some(fl!(words, "search-twice"));
    }
    let choice_wrong = || fl!(words, "filter-choice-wrong");
    let status = noted(read(query, "status", status), &mut mistakes.status, choice_wrong);
    let way = noted(read(query, "method", method), &mut mistakes.method, choice_wrong);
    let order = noted(read(query, "sort", order), &mut mistakes.sort, choice_wrong).unwrap_or_default();
    let link_id = link.unwrap_or_else(|why| {
        mistakes.link = Some(why);
        None
    });
    let day_wrong = || fl!(words, "filter-day-wrong");
    let named = noted(read(query, "period", Period::parse), &mut mistakes.from, || fl!(words, "filter-period-wrong"));
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
    let created = match (from, until) {
        (None, None) => named.map(|period| period.span(now)),
        (from, until) => Some((from.unwrap_or(BEGINNING), until.unwrap_or(END))),
    };
    let status = status.map(|status| (status, now));
    Ok(PaymentFilter { q, link_id, status, method: way, created, order, ..PaymentFilter::default() })
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

fn order(text: &str) -> Option<PaymentOrder> {
    ORDERS.iter().find(|(word, _)| *word == text).map(|(_, order)| *order)
}

#[cfg(test)]
mod tests {
    use domain::language::Language;

    use super::*;
    use crate::words::words;

    const NOW: Timestamp = Timestamp::from_millis(1_794_648_600_000);

    fn filter_of(raw: &str) -> Result<PaymentFilter, Box<Mistakes>> {
        filter(&Query::parse(Some(raw)), Ok(None), NOW, words(Language::English))
    }

    #[test]
    fn a_filter_includes_whole_days_in_western_indonesia() {
        let days = |raw| filter_of(raw).unwrap().created.map(|(from, until)| [from, until].map(|at| at.to_string()));
        let day = ["2026-11-14T17:00:00.000Z".to_owned(), "2026-11-15T17:00:00.000Z".to_owned()];
        assert_eq!(days("from=2026-11-15&to=2026-11-15"), Some(day.clone()));
        assert_eq!(days("from=2026-11-15"), Some([day[0].clone(), END.to_string()]));
        assert_eq!(days("to=2026-11-15"), Some([BEGINNING.to_string(), day[1].clone()]));
        assert_eq!(days("from=&to=&q=&status=&method=&link=&sort=&period="), None, "a form sends all of its fields");
        let today = ["2026-11-13T17:00:00.000Z".to_owned(), "2026-11-14T17:00:00.000Z".to_owned()];
        assert_eq!(days("period=today&from=&to="), Some(today));
        assert_eq!(days("period=today&from=2026-11-15&to=2026-11-15"), Some(day), "dates count before a name");
    }

    #[test]
    fn a_mistake_is_shown_at_its_field_and_nowhere_else() {
        let fields_with_mistakes = |raw: &str| {
            let mistakes = filter_of(raw).unwrap_err();
            let fields = [
                ("q", mistakes.q),
                ("status", mistakes.status),
                ("method", mistakes.method),
                ("from", mistakes.from),
                ("to", mistakes.to),
                ("link", mistakes.link),
                ("sort", mistakes.sort),
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
            ("period=tomorrow", "from"),
            ("period=today&period=today", "from"),
            ("sort=amount", "sort"),
            ("q=a&q=b", "q"),
            ("q=ab", "q"),
            ("q=a+b+c", "q"),
            ("q=kopi%00", "q"),
            ("q=one+two+three+four+five+six+seven+eight+nine", "q"),
            ("search=a", "q"),
            (&format!("q={}", "a".repeat(256)), "q"),
        ] {
            assert_eq!(fields_with_mistakes(raw), fields, "{raw}");
        }
    }

    #[test]
    fn a_list_is_newest_first_unless_its_address_says_otherwise() {
        for (raw, order) in [
            ("", PaymentOrder::Newest),
            ("sort=", PaymentOrder::Newest),
            ("sort=oldest", PaymentOrder::Oldest),
            ("sort=highest", PaymentOrder::AmountHighest),
            ("sort=lowest", PaymentOrder::AmountLowest),
        ] {
            assert_eq!(filter_of(raw).unwrap().order, order, "{raw}");
        }
    }

    #[test]
    fn the_query_that_is_made_from_filters_asks_for_the_same_again() {
        let raw =
            "q=a%26b%3D%22%C3%A9+c&status=paid&method=virtual_account%3Abca&from=2026-11-01&to=2026-11-15&sort=oldest";
        let asked = TypedFilter::of(&Query::parse(Some(raw)));
        assert_eq!((asked.query().as_str(), asked.q.as_str()), (raw, "a&b=\"é c"));
        assert!(TypedFilter::of(&Query::parse(Some("status=&sort=lowest&page=2"))).is_everything());
        let old = TypedFilter::of(&Query::parse(Some("search=INV-1")));
        assert_eq!(old.query(), "q=INV-1", "the name that addresses had before");
    }
}
