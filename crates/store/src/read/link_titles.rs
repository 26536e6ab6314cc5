//! Titles of links, for lists that name the link of each row and for fields in which a link is chosen by its title.

use std::collections::HashMap;

use domain::id::{LinkId, ProjectId};

use crate::{
    Store,
    error::StoreError,
    plan::Dialect,
    value::{Columns, Query, Value},
};

impl Store {
    /// The titles of these links, read at once; ids that are no link of the project are left out. Ask for those of one
    /// page of a list.
    pub async fn link_titles(
        &self,
        project_id: ProjectId,
        ids: &[LinkId],
    ) -> Result<HashMap<LinkId, String>, StoreError> {
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        let sql = match self.dialect() {
            Dialect::Sqlite => {
                "SELECT id, title FROM links WHERE project_id = $1 \
                 AND id IN (SELECT value FROM json_each('[\"' || replace($2, ',', '\",\"') || '\"]'))"
            }
            Dialect::Postgres => {
                "SELECT id, title FROM links WHERE project_id = $1 AND id = ANY (string_to_array($2, ','))"
            }
        };
        let wanted = ids.iter().map(LinkId::to_string).collect::<Vec<_>>().join(",");
        let titles = self.many(Query::new(sql, [Value::stored(project_id), wanted.into()]), title).await?;
        Ok(titles.into_iter().collect())
    }

    /// The titles of the project's newest links, the newest first.
    pub async fn newest_link_titles(&self, project_id: ProjectId, most: i64) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT title FROM links WHERE project_id = $1 ORDER BY id DESC LIMIT $2";
        self.many(Query::new(sql, [Value::stored(project_id), most.into()]), |columns| columns.text()).await
    }
}

fn title(columns: &mut Columns<'_>) -> Result<(LinkId, String), StoreError> {
    Ok((columns.parsed()?, columns.text()?))
}
