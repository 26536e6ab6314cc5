//! Payment links.

use std::sync::LazyLock;

use domain::{
    id::{LinkId, ProjectId, first_id_at},
    link::{CustomerFields, Link},
    method::Method,
    money::Rupiah,
    pricing::Pricing,
    time::Timestamp,
};

use super::{List, Listed, Window};
use crate::{
    Store,
    error::StoreError,
    value::{Columns, Query, Value},
};

const COLUMNS: &str = "id, project_id, reference, title, description, amount, methods, allow_multiple_payments, \
    customer_fields, expires_at, cancelled_at, claimed_by, created_at, version, metadata, \
    quantity_max, amount_max, return_url";

static BY_ID: LazyLock<String> = LazyLock::new(|| format!("SELECT {COLUMNS} FROM links WHERE id = $1"));
pub(crate) static SHOWN: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {COLUMNS}, (SELECT projects.version FROM projects WHERE projects.id = links.project_id), \
         CAST(CASE WHEN allow_multiple_payments = 0 AND EXISTS (SELECT 1 FROM payments \
         WHERE payments.link_id = links.id AND payments.state = 'processing') THEN 1 ELSE 0 END AS BIGINT) \
         FROM links WHERE id = $1"
    )
});

const PAID: &str = "SELECT id FROM payments WHERE link_id = $1 AND state = 'paid' LIMIT 1";

/// Which links of a project to list.
#[derive(Clone, Debug, Default)]
pub struct LinkFilter {
    /// A substring of the title or the reference.
    pub search: Option<String>,
    /// Created from the first instant on, and before the second.
    pub created: Option<(Timestamp, Timestamp)>,
}

/// A link with what else its page needs, from one snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownLink {
    pub link: Link,
    pub project_version: i64,
    /// Whether some payment of a single-use link is processing; a paid one has claimed the link. Always false for links
    /// that take many payments.
    pub in_use: bool,
}

impl Store {
    /// A link of any project, for the hosted page, which has no key.
    pub async fn shown_link(&self, id: LinkId) -> Result<Option<ShownLink>, StoreError> {
        self.one(Query::new(SHOWN.as_str(), [Value::stored(id)]), shown_link).await
    }

    pub async fn link(&self, id: LinkId) -> Result<Option<Link>, StoreError> {
        self.one(Query::new(BY_ID.as_str(), [Value::stored(id)]), link).await
    }

    /// Whether some payment of the link is paid.
    pub async fn link_is_paid(&self, id: LinkId) -> Result<bool, StoreError> {
        let query = Query::new(PAID, [Value::stored(id)]);
        Ok(self.one(query, |columns| columns.text()).await?.is_some())
    }

    pub async fn links(
        &self,
        project_id: ProjectId,
        filter: &LinkFilter,
        window: Window,
    ) -> Result<Listed<Link>, StoreError> {
        let mut conditions = self.wanted_links(project_id, filter.search.as_slice()).await?;
        if let Some((from, until)) = filter.created {
            let [from, until]: [LinkId; 2] = [from, until].map(first_id_at);
            conditions.and("id >= ?", Value::stored(from));
            conditions.and("id < ?", Value::stored(until));
        }
        self.listed(list(), conditions, window).await
    }
}

pub(super) fn list() -> List<Link> {
    List { columns: COLUMNS, from: "links", table: "links", id: "id", order: "id DESC", decode: link }
}

fn shown_link(columns: &mut Columns<'_>) -> Result<ShownLink, StoreError> {
    Ok(ShownLink { link: link(columns)?, project_version: columns.integer()?, in_use: columns.truth()? })
}

fn link(columns: &mut Columns<'_>) -> Result<Link, StoreError> {
    let mut link = Link {
        id: columns.parsed()?,
        project_id: columns.parsed()?,
        reference: columns.text()?,
        title: columns.text()?,
        description: columns.text()?,
        amount: columns.rupiah()?,
        pricing: Pricing::Fixed,
        methods: columns.words(Method::parse)?,
        allow_multiple_payments: columns.truth()?,
        customer_fields: customer_fields(&columns.text()?),
        expires_at: columns.optional_timestamp()?,
        cancelled_at: columns.optional_timestamp()?,
        claimed_by: columns.optional_parsed()?,
        created_at: columns.timestamp()?,
        version: columns.integer()?,
        metadata: columns.metadata()?,
        return_url: None,
    };
    match (columns.optional_integer()?, columns.optional_integer()?) {
        (Some(quantity_max), _) => link.pricing = Pricing::PerPiece { quantity_max },
        (None, Some(most)) => {
            link.pricing = Pricing::Open { least: link.amount, most: Rupiah::new(most) };
            link.amount = Rupiah::ZERO;
        }
        (None, None) => {}
    }
    link.return_url = columns.return_url()?;
    Ok(link)
}

fn customer_fields(words: &str) -> CustomerFields {
    let wanted = |field| words.split(',').any(|word| word == field);
    CustomerFields { name: wanted("name"), email: wanted("email"), phone: wanted("phone"), address: wanted("address") }
}
