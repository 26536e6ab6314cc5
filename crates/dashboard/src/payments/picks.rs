//! Links that change one part of what a list asks for and keep the rest: tabs, spans of days, chosen filters, and the heads
//! of columns that sort.

use domain::payment::Status;
use engine::PaymentOrder;
use i18n_embed_fl::fl;

use crate::{
    labels::payment_badge,
    payments::{
        filter::{Choice, TypedFilter},
        period::Period,
    },
    words::Words,
};

/// The statuses in the order in which merchants look for them.
const STATUSES: [Status; 6] =
    [Status::Paid, Status::Pending, Status::Processing, Status::Expired, Status::Failed, Status::Cancelled];

/// One of several links, of which at most one is chosen.
pub(crate) struct Pick {
    pub(crate) url: String,
    pub(crate) label: String,
    pub(crate) is_chosen: bool,
}

/// The head of a column that sorts the list.
pub(crate) struct Head {
    pub(crate) url: String,
    /// `ascending`, `descending`, or empty if the list is not sorted by it.
    pub(crate) sorted: &'static str,
}

/// What the links of a list need: its path, and what its address asks for.
pub(crate) struct Picks<'a> {
    pub(crate) path: &'a str,
    pub(crate) asked: &'a TypedFilter,
    pub(crate) words: Words,
}

impl Picks<'_> {
    /// The list that asks for the same but for what `change` changes.
    fn url(&self, change: impl FnOnce(&mut TypedFilter)) -> String {
        let mut asked = self.asked.clone();
        change(&mut asked);
        let query = asked.query();
        let mark = if query.is_empty() { "" } else { "?" };
        format!("{}{mark}{query}", self.path)
    }

    pub(crate) fn statuses(&self) -> Vec<Pick> {
        let pick = |word: &str, label: String| Pick {
            url: self.url(|asked| word.clone_into(&mut asked.status)),
            label,
            is_chosen: self.asked.status == word,
        };
        let all = pick("", fl!(self.words, "filter-any"));
        let others = STATUSES.map(|status| pick(status.word(), payment_badge(self.words, status).text));
        std::iter::once(all).chain(others).collect()
    }

    pub(crate) fn periods(&self) -> Vec<Pick> {
        let asked = self.asked;
        let pick = |word: &str, label: String, is_chosen: bool| Pick {
            url: self.url(|asked| {
                word.clone_into(&mut asked.period);
                asked.from.clear();
                asked.to.clear();
            }),
            label,
            is_chosen,
        };
        let always = pick("", fl!(self.words, "period-always"), asked.is_always());
        let named = |period: Period| pick(period.word(), period.name(self.words), asked.period == period.word());
        std::iter::once(always).chain(Period::ALL.map(named)).collect()
    }

    /// The filters that only the closed form would show, each with the list without it.
    pub(crate) fn chosen(&self, methods: &[Choice], link: Option<String>) -> Vec<Pick> {
        let mut picks = Vec::new();
        let mut add = |label: String, change: fn(&mut TypedFilter)| {
            picks.push(Pick { url: self.url(change), label, is_chosen: true });
        };
        if let Some(method) = methods.iter().find(|method| method.chosen && !method.value.is_empty()) {
            add(method.label.clone(), |asked| asked.method.clear());
        }
        if let Some(title) = link {
            add(fl!(self.words, "filter-of-link", title = title), |asked| asked.link.clear());
        }
        let TypedFilter { from, to, .. } = self.asked;
        let days = match (from.as_str(), to.as_str()) {
            ("", "") => return picks,
            (from, "") => fl!(self.words, "filter-since", from = from),
            ("", to) => fl!(self.words, "filter-until", to = to),
            (from, to) if from == to => from.to_owned(),
            (from, to) => format!("{from} – {to}"),
        };
        add(days, |asked| {
            asked.from.clear();
            asked.to.clear();
        });
        picks
    }

    /// The heads for time and amount. `order` is the one that the list has.
    pub(crate) fn heads(&self, order: PaymentOrder) -> [Head; 2] {
        let head = |sort: &str, sorted| Head { url: self.url(|asked| sort.clone_into(&mut asked.sort)), sorted };
        match order {
            PaymentOrder::Newest => [head("oldest", "descending"), head("highest", "")],
            PaymentOrder::Oldest => [head("", "ascending"), head("highest", "")],
            PaymentOrder::AmountHighest => [head("", ""), head("lowest", "descending")],
            PaymentOrder::AmountLowest => [head("", ""), head("highest", "ascending")],
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::language::Language;
    use web::query::Query;

    use super::*;
    use crate::words::words;

    #[test]
    fn a_link_changes_one_part_and_keeps_the_rest() {
        let raw = "q=kopi&status=paid&method=qris&from=2026-11-01&to=2026-11-15&link=pl_1&sort=lowest";
        let asked = TypedFilter::of(&Query::parse(Some(raw)));
        let picks = Picks { path: "/x", asked: &asked, words: words(Language::English) };
        let methods = asked.methods(picks.words);
        let tabs = picks.statuses();
        assert_eq!(tabs.iter().find(|tab| tab.is_chosen).unwrap().url, format!("/x?{raw}"));
        assert_eq!(tabs[0].url, format!("/x?{}", raw.replace("status=paid&", "")));
        let days = "from=2026-11-01&to=2026-11-15&";
        let periods = picks.periods();
        assert_eq!(periods[2].url, format!("/x?{}", raw.replace(days, "period=yesterday&")));
        assert!(periods.iter().all(|pick| !pick.is_chosen), "the days are chosen by dates");
        let chosen = picks.chosen(&methods, Some("Kopi".to_owned()));
        let labels: Vec<&str> = chosen.iter().map(|pick| pick.label.as_str()).collect();
        assert_eq!(labels.len(), 3, "{labels:?}");
        assert!(labels[0] == "QRIS" && labels[1].contains("Kopi") && labels[2] == "2026-11-01 – 2026-11-15");
        assert_eq!(chosen[2].url, format!("/x?{}", raw.replace(days, "")));
        let [time, amount] = picks.heads(PaymentOrder::AmountLowest);
        assert_eq!((time.url, time.sorted), (format!("/x?{}", raw.replace("&sort=lowest", "")), ""));
        assert_eq!((amount.url, amount.sorted), (format!("/x?{}", raw.replace("lowest", "highest")), "ascending"));
        let nothing = Picks { asked: &TypedFilter::default(), ..picks };
        assert_eq!((nothing.periods()[0].url.as_str(), nothing.periods()[0].is_chosen), ("/x", true));
        assert!(nothing.chosen(&methods[..1], None).is_empty());
    }
}
