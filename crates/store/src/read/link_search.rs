//! Searching links with their index of tokens, as payments are searched (`payment_search.rs`). Links that wait to be added to the
//! index are compared too.

use domain::{
    id::{LinkId, ProjectId},
    link::Link,
    search::{SearchTerm, folded},
};

use super::{
    Conditions, Window, links,
    payment_search::{Candidates, SAMPLED, rarest},
};
use crate::{
    Store,
    change::SearchIndex,
    error::StoreError,
    plan::Dialect,
    search_tokens::grams,
    value::{Query, Value},
};

pub(crate) const NAMED: &str = "SELECT id FROM links WHERE project_id = $1 AND reference = $2 ORDER BY id DESC LIMIT 2";

impl Store {
    /// The newest links in whose title or reference all words of the term occur, at most `most`.
    pub async fn links_found(
        &self,
        project_id: ProjectId,
        term: &SearchTerm,
        most: i64,
    ) -> Result<Vec<Link>, StoreError> {
        if term.words().is_empty() {
            return Ok(Vec::new());
        }
        let conditions = self.wanted_links(project_id, term.words()).await?;
        self.page(&links::list(), conditions, Window { offset: 0, limit: most }).await
    }

    /// The links that have this reference; two of them at most.
    pub async fn links_named(&self, project_id: ProjectId, reference: &str) -> Result<Vec<LinkId>, StoreError> {
        let parameters = [Value::stored(project_id), reference.to_owned().into()];
        self.many(Query::new(NAMED, parameters), |columns| columns.parsed()).await
    }

    /// The condition that each of `parts` occurs in a link's title or reference, with the search index where it helps.
    pub(crate) async fn wanted_links(&self, project_id: ProjectId, parts: &[String]) -> Result<Conditions, StoreError> {
        let grams: Vec<String> = parts.iter().flat_map(|part| grams(&folded(part))).collect();
        let sample = if grams.is_empty() { Vec::new() } else { self.sampled_links(project_id).await? };
        let candidates = Candidates { sets: vec![rarest(grams, &sample)], id_prefixes: Vec::new() };
        let are_common = candidates.are_common(&sample);
        let mut conditions = Conditions::new();
        // The plus keeps SQLite from reading the whole project by the project's index instead.
        let of_project = match self.dialect() {
            Dialect::Sqlite if !are_common => "+project_id = ?",
            Dialect::Sqlite | Dialect::Postgres => "project_id = ?",
        };
        conditions.and(of_project, Value::stored(project_id));
        for part in parts {
            conditions.and_contains("search_text", part);
        }
        if !are_common {
            let indexed = self.in_index(&mut conditions, project_id, SearchIndex::Links, candidates.sets);
            let indexed = match self.dialect() {
                Dialect::Sqlite => format!("SELECT link_id FROM link_search_numbers WHERE number IN ({indexed})"),
                Dialect::Postgres => indexed,
            };
            let waiting = "SELECT link_id FROM link_search_again WHERE project_id = $1";
            conditions.and_sql(&format!("id {}", self.among(&format!("{indexed} UNION ALL {waiting}"))));
        }
        Ok(conditions)
    }

    /// What some of the project's links are searched by.
    async fn sampled_links(&self, project_id: ProjectId) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT search_text FROM links WHERE project_id = $1 ORDER BY id DESC LIMIT $2";
        let most = i64::try_from(SAMPLED).unwrap_or(i64::MAX);
        self.many(Query::new(sql, [Value::stored(project_id), most.into()]), |columns| columns.text()).await
    }
}
