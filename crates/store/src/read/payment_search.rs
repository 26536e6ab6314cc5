//! Searching payments with the index of tokens. The index gives candidates, which are compared with the term; payments that
//! it does not have yet, or that wait to be added again, are compared too, and when those are many, maintenance is requested.

use std::cmp::Reverse;

use domain::{
    id::{PaymentId, ProjectId},
    rules::distinct,
    search::{Number, SearchTerm, amount, folded},
};

use super::{
    Conditions,
    payment_list::{PaymentFilter, conditions},
    search_term::{id_begins, is_id_prefix},
};
use crate::{
    Store,
    change::SearchIndex,
    error::StoreError,
    maintenance::LONG_SEARCH,
    plan::Dialect,
    search_tokens::{amount_gram, array, grams, is_number, token, word},
    value::{Columns, Query, Value},
};

/// Grams of one set that the index is asked for; more of them would hardly narrow the result down further.
const GRAMS_MOST: usize = 4;
/// Sets of grams that the index is asked for. Words that would make more are only compared.
const SETS_MOST: usize = 8;
/// The newest payments, or links, that are read to find out which grams are rare.
pub(super) const SAMPLED: usize = 50;
/// A term that so many of them have is common.
const COMMON: usize = SAMPLED / 2;

/// What the index is asked for: every payment that is looked for has all grams of one of the sets, or an id that begins with
/// one of the prefixes.
pub(super) struct Candidates {
    pub(super) sets: Vec<Vec<String>>,
    pub(super) id_prefixes: Vec<String>,
}

impl Store {
    /// The conditions of the filter, with the search index where it helps.
    pub(crate) async fn wanted(&self, project_id: ProjectId, filter: &PaymentFilter) -> Result<Conditions, StoreError> {
        let search = folded(filter.search.as_deref().unwrap_or_default());
        if filter.q.is_none() && grams(&search).is_empty() {
            return Ok(conditions("p.project_id = ?", project_id, filter));
        }
        let upto = self.indexed_upto().await?;
        if self.search_lacks(upto.clone(), LONG_SEARCH).await? {
            self.maintenance.search_index();
        }
        let sample = self.sample(project_id).await?;
        let candidates = match &filter.q {
            Some(term) => Candidates::of_term(term, &sample),
            None => Candidates { sets: vec![rarest(grams(&search), &sample)], id_prefixes: Vec::new() },
        };
        if candidates.are_common(&sample) {
            return Ok(conditions("p.project_id = ?", project_id, filter));
        }
        let (hits, parameters) = self.hits(project_id, filter, candidates, upto);
        Ok(Conditions { sql: format!("WHERE p.id {}", self.among(&hits)), parameters })
    }

    /// The payments that have this reference, or this account number, as a whole; two of them at most.
    pub async fn payments_named(
        &self,
        project_id: ProjectId,
        reference: &str,
        term: &SearchTerm,
    ) -> Result<Vec<PaymentId>, StoreError> {
        let search = PaymentFilter { search: Some(reference.to_owned()), ..PaymentFilter::default() };
        let mut named = self.wanted(project_id, &search).await?;
        named.and("p.reference = ?", reference.to_owned());
        let mut found = self.first_two(named).await?;
        if let Some(Number { digits, .. }) = term.number() {
            let number = PaymentFilter { q: Some(term.clone()), ..PaymentFilter::default() };
            let mut numbered = self.wanted(project_id, &number).await?;
            numbered.and("p.method <> 'qris' AND p.code = ?", digits.clone());
            found.extend(self.first_two(numbered).await?);
            found.dedup();
        }
        Ok(found)
    }

    async fn first_two(&self, conditions: Conditions) -> Result<Vec<PaymentId>, StoreError> {
        let Conditions { sql, parameters } = conditions;
        let two = format!("SELECT p.id FROM payments p {sql} ORDER BY p.id DESC LIMIT 2");
        self.many(Query::new(two, parameters), |columns| columns.parsed()).await
    }

    /// What some of the project's payments are searched by, in one text each.
    async fn sample(&self, project_id: ProjectId) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT p.amount, p.search_text || ' ' || CASE p.method WHEN 'qris' THEN '' ELSE p.code END || ' ' || \
                   COALESCE(p.metadata_text, '') || ' ' || \
                   COALESCE((SELECT l.search_text FROM links l WHERE l.id = p.link_id), '') || ' ' || \
                   COALESCE((SELECT c.search_text FROM checkouts c WHERE c.payment_id = p.id), '') \
                   FROM payments p WHERE p.project_id = $1 ORDER BY p.id DESC LIMIT $2";
        let most = i64::try_from(SAMPLED).unwrap_or(i64::MAX);
        let text = |columns: &mut Columns<'_>| {
            let amount = amount_gram(columns.rupiah()?);
            Ok(format!("{} {amount}", columns.text()?))
        };
        self.many(Query::new(sql, [Value::stored(project_id), most.into()]), text).await
    }

    /// A statement that selects the ids of matching payments, some more than once. To give each once, SQLite would merge the
    /// parts by id, and so go through all payments for those that the index does not have.
    fn hits(
        &self,
        project_id: ProjectId,
        filter: &PaymentFilter,
        candidates: Candidates,
        upto: Value,
    ) -> (String, Vec<Value>) {
        // The plus keeps SQLite from reading the whole project by the project's index instead.
        let of_project = match self.dialect() {
            Dialect::Sqlite => "+p.project_id = ?",
            Dialect::Postgres => "p.project_id = ?",
        };
        let mut matching = conditions(of_project, project_id, filter);
        let has_term = std::mem::take(&mut matching.sql);
        // What the index knows payments by.
        let key = match self.dialect() {
            Dialect::Sqlite => "p.number",
            Dialect::Postgres => "p.id",
        };
        let indexed = self.in_index(&mut matching, project_id, SearchIndex::Payments, candidates.sets);
        let places = vec![
            format!("{key} {}", self.among(&indexed)),
            format!("{key} > {}", matching.place(upto)),
            format!("p.id {}", self.among("SELECT payment_id FROM payment_search_again WHERE project_id = $1")),
        ];
        let prefixed: Vec<String> =
            candidates.id_prefixes.iter().map(|prefix| id_begins(&mut matching, prefix)).collect();
        let places = places.into_iter().chain(prefixed);
        let hits: Vec<String> =
            places.map(|place| format!("SELECT p.id AS id FROM payments p {has_term} AND {place}")).collect();
        (hits.join(" UNION ALL "), matching.parameters)
    }

    /// A statement that selects what the index has with all grams of one of the sets.
    pub(super) fn in_index(
        &self,
        conditions: &mut Conditions,
        project_id: ProjectId,
        index: SearchIndex,
        sets: Vec<Vec<String>>,
    ) -> String {
        let table = index.table();
        let tokens = |set: Vec<String>| set.into_iter().map(|gram| token(project_id, &gram)).collect::<Vec<i32>>();
        match self.dialect() {
            Dialect::Sqlite => {
                let quoted = |token: &i32| format!("\"{}\"", word(*token));
                let all = |set| format!("({})", tokens(set).iter().map(quoted).collect::<Vec<_>>().join(" AND "));
                let any = sets.into_iter().map(all).collect::<Vec<_>>().join(" OR ");
                format!("SELECT rowid FROM {table} WHERE {table} MATCH {}", conditions.place(any))
            }
            Dialect::Postgres => {
                let all = |set| {
                    let tokens = conditions.place(array(tokens(set)));
                    format!("s.tokens @> CAST(CAST({tokens} AS TEXT) AS INTEGER[])")
                };
                let any = sets.into_iter().map(all).collect::<Vec<_>>().join(" OR ");
                format!("SELECT s.id FROM {table} s WHERE {any}")
            }
        }
    }

    /// The end of a condition: among the rows of `query`. On PostgreSQL they are found first and then looked up one by one;
    /// the planner would often go through a whole table to see which of its rows are among a few.
    pub(super) fn among(&self, query: &str) -> String {
        match self.dialect() {
            Dialect::Sqlite => format!("IN ({query})"),
            Dialect::Postgres => format!("= ANY (ARRAY ({query}))"),
        }
    }
}

impl Candidates {
    fn of_term(term: &SearchTerm, sample: &[String]) -> Candidates {
        let mut sets = sets_of_words(term.words(), sample);
        if let Some(Number { digits, phone }) = term.number() {
            sets.extend([rarest(grams(digits), sample), rarest(grams(phone), sample)]);
        }
        sets.extend(term.amount().map(|amount| vec![amount_gram(amount)]));
        sets.sort_unstable();
        sets.dedup();
        let id_prefixes = term.words().iter().filter(|word| is_id_prefix(word)).cloned().collect();
        Candidates { sets, id_prefixes }
    }

    /// Whether so many payments have what is asked for that reading them in the order of the list is quicker. A project with
    /// few payments is always read.
    pub(super) fn are_common(&self, sample: &[String]) -> bool {
        let has_all = |text: &&String| self.sets.iter().any(|set| set.iter().all(|gram| text.contains(gram.as_str())));
        sample.len() < SAMPLED || sample.iter().filter(has_all).count() >= COMMON
    }
}

/// Every payment in which all words occur has all grams of one of these sets.
fn sets_of_words(words: &[String], sample: &[String]) -> Vec<Vec<String>> {
    let mut sets: Vec<Vec<String>> = Vec::new();
    for word in words {
        let in_a_text = grams(word);
        if in_a_text.is_empty() {
            continue;
        }
        let as_amount = amount(word).map(|amount| vec![amount_gram(amount)]);
        let ways: Vec<Vec<String>> = [in_a_text].into_iter().chain(as_amount).collect();
        sets = match sets.len() {
            0 => ways,
            count if count * ways.len() > SETS_MOST => sets,
            _ => sets.iter().flat_map(|set| ways.iter().map(move |way| [set.as_slice(), way].concat())).collect(),
        };
    }
    sets.into_iter().map(|set| rarest(set, sample)).collect()
}

/// The grams of a set to ask the index for. Those that many payments have, such as those of `order-`, take long to look up and
/// narrow down little; a sample of payments shows which those are. Where no sampled payment has some of the grams of five digits,
/// those are asked for alone: of a million payments thousands have three digits, and going through them takes longer than comparing
/// the few that have five.
pub(super) fn rarest(set: Vec<String>, sample: &[String]) -> Vec<String> {
    let frequency = |gram: &str| sample.iter().filter(|text| text.contains(gram)).count();
    let mut set: Vec<(usize, String)> = distinct(set).into_iter().map(|gram| (frequency(&gram), gram)).collect();
    set.sort_by_key(|(frequency, gram)| (*frequency, Reverse(gram.len())));
    if set.first().is_some_and(is_rare_number) {
        set.retain(is_rare_number);
    }
    set.into_iter().take(GRAMS_MOST).map(|(_, gram)| gram).collect()
}

fn is_rare_number((frequency, gram): &(usize, String)) -> bool {
    *frequency == 0 && is_number(gram)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn term(text: &str) -> SearchTerm {
        SearchTerm::parse(text).unwrap()
    }

    #[test]
    fn the_index_is_asked_for_the_grams_that_few_payments_have() {
        let sample = ["order-1", "order-2"].map(str::to_owned);
        assert_eq!(rarest(grams("order-17"), &sample), ["-17", "r-1", "ord", "rde"]);
        assert_eq!(rarest(grams("order-54321"), &sample), ["54321"], "a number of five digits is rare by itself");
        let sample = ["order-54321", "order-54320"].map(str::to_owned);
        assert_eq!(rarest(grams("5432"), &sample), ["543", "432"]);
        assert_eq!(rarest(grams("54321-0"), &sample), ["21-", "1-0", "54321", "321"]);
    }

    #[test]
    fn a_term_asks_for_each_way_in_which_it_can_be_meant() {
        let sets = |text: &str| Candidates::of_term(&term(text), &[]).sets;
        assert_eq!(sets("kopi"), [["kop", "opi"]]);
        assert_eq!(sets("kopi su"), [["kop", "opi"]], "short words are only compared");
        assert_eq!(sets("abc def"), [["abc", "def"]]);
        assert_eq!(sets("Rp150"), [vec!["\u{0}150"], vec!["rp1", "p15", "150"]]);
        assert_eq!(sets("kop 150"), [vec!["\u{0}150", "kop"], vec!["kop", "150"]]);
        assert_eq!(sets("0812"), [vec!["081", "812"], vec!["62812"]]);
        assert!(sets("111 222 333 444 555 666 777 888").len() <= SETS_MOST + 3);
    }

    #[test]
    fn a_term_that_half_of_the_payments_have_is_common() {
        let sample = |with: usize| {
            let with = std::iter::repeat_n("order 1 kopi", with);
            let all = with.chain(std::iter::repeat_n("teh", SAMPLED)).take(SAMPLED);
            all.map(str::to_owned).collect::<Vec<_>>()
        };
        let is_common = |text: &str, sample: &[String]| Candidates::of_term(&term(text), sample).are_common(sample);
        for (text, with, wanted) in
            [("kopi", 25, true), ("kopi order", 25, true), ("kopi", 24, false), ("kopi teh", 25, false)]
        {
            assert_eq!(is_common(text, &sample(with)), wanted, "{text} {with}");
        }
        assert!(is_common("anything", &sample(0)[1..]), "a small project is read");
    }

    #[test]
    fn only_a_word_that_can_begin_an_id_is_compared_with_ids() {
        let prefix = |text: &str| Candidates::of_term(&term(text), &[]).id_prefixes;
        assert_eq!(prefix("PAY_01kz kopi"), ["pay_01kz"]);
        for other in ["pay_01k", "pl_01kzdq3f5", "01kzdq3f5"] {
            assert_eq!(prefix(other), [""; 0], "{other}");
        }
    }
}
