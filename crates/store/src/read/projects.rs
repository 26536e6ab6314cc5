//! Projects and their allowed origins.

use std::sync::LazyLock;

use domain::{
    bank::Bank,
    colour::Colour,
    event::EventKind,
    face::{Contacts, Face, LogoMark},
    fee::FeeOverrides,
    id::ProjectId,
    method::Method,
    money::Rupiah,
    project::{AssignedAccount, Environment, MerchantProfile, Project, SuccessWord},
    refund_settings::RefundSettings,
};

use crate::{
    Store,
    error::StoreError,
    value::{Columns, Query, Value, stored_method},
};

pub(super) const COLUMNS: &str = "p.id, p.name, p.environment, p.merchant_name, p.merchant_city, \
    p.merchant_postal_code, p.active, p.approved, p.success_word, p.webhook_url, p.fee_qris_basis_points, \
    p.fee_virtual_account, p.banks, p.default_methods, p.created_at, p.version, \
    COALESCE((SELECT string_agg(e.kind, ',' ORDER BY e.position) FROM extra_events e WHERE e.project_id = p.id), ''), \
    p.frame_origins, \
    p.face_colour, p.contact_whatsapp, p.contact_phone, p.contact_email, p.contact_site, p.logo_hash, p.logo_width, \
    p.logo_height, p.refund_approval_above, p.refund_key_destination_approval, p.refunds_return_fee, \
    COALESCE((SELECT string_agg(a.method || '=' || b.id || '=' || b.version, ',') FROM bank_assignments a \
    JOIN bank_accounts b ON b.id = a.account_id WHERE a.project_id = p.id AND b.enabled = 1), '')";

static BY_ID: LazyLock<String> = LazyLock::new(|| format!("SELECT {COLUMNS} FROM projects p WHERE p.id = $1"));

pub(super) fn project(columns: &mut Columns<'_>) -> Result<Project, StoreError> {
    Ok(Project {
        id: columns.parsed()?,
        name: columns.text()?,
        environment: columns.word(Environment::parse)?,
        merchant: MerchantProfile { name: columns.text()?, city: columns.text()?, postal_code: columns.text()? },
        active: columns.truth()?,
        approved: columns.truth()?,
        success_word: columns.word(SuccessWord::parse)?,
        webhook_url: columns.optional_text()?,
        fees: FeeOverrides {
            qris_basis_points: columns.optional_integer()?,
            virtual_account: columns.optional_integer()?.map(Rupiah::new),
        },
        banks: columns.words(Bank::from_code)?,
        default_methods: columns.words(Method::parse)?,
        created_at: columns.timestamp()?,
        version: columns.integer()?,
        extra_events: columns.words(EventKind::parse_extra)?,
        frame_origins: columns.words(|origin| Some(origin.to_owned()))?,
        face: face(columns)?,
        refunds: RefundSettings {
            approval_above: columns.optional_integer()?.map(Rupiah::new),
            key_destination_needs_approval: columns.optional_integer()?.map(|needed| needed != 0),
            returns_fee: columns.truth()?,
        },
        accounts: columns.words(assigned_account)?,
    })
}

fn face(columns: &mut Columns<'_>) -> Result<Face, StoreError> {
    let colour = columns.optional_text()?;
    let readable = |text: String| Colour::parse(&text).ok_or_else(|| StoreError::unexpected("a colour is malformed"));
    let contacts = Contacts {
        whatsapp: columns.optional_text()?,
        phone: columns.optional_text()?,
        email: columns.optional_text()?,
        site: columns.optional_text()?,
    };
    let (hash, width, height) = (columns.optional_text()?, columns.optional_integer()?, columns.optional_integer()?);
    let pixels = |edge: Option<i64>| edge.and_then(|edge| u32::try_from(edge).ok()).unwrap_or_default();
    let logo = hash.map(|hash| LogoMark { hash, width: pixels(width), height: pixels(height) });
    Ok(Face { logo, colour: colour.map(readable).transpose()?, contacts })
}

/// `bca=bac_…=1`: a method, the account that is assigned to it, and the account's version.
fn assigned_account(text: &str) -> Option<AssignedAccount> {
    let mut parts = text.split('=');
    let assigned = AssignedAccount {
        method: stored_method(parts.next()?)?,
        account_id: parts.next()?.parse().ok()?,
        version: parts.next()?.parse().ok()?,
    };
    parts.next().is_none().then_some(assigned)
}

impl Store {
    pub async fn project(&self, id: ProjectId) -> Result<Option<Project>, StoreError> {
        self.one(Query::new(BY_ID.as_str(), [Value::stored(id)]), project).await
    }

    /// The project's version, for callers that have the project itself in a cache.
    pub async fn project_version(&self, id: ProjectId) -> Result<Option<i64>, StoreError> {
        let sql = "SELECT version FROM projects WHERE id = $1";
        self.one(Query::new(sql, [Value::stored(id)]), |columns| columns.integer()).await
    }

    pub async fn projects(&self) -> Result<Vec<Project>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM projects p ORDER BY p.created_at, p.id");
        self.many(Query::new(sql, []), project).await
    }

    /// The logo with that hash, as a PNG file. Projects that have the same logo share its address.
    pub async fn logo(&self, hash: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let sql = "SELECT png FROM logos WHERE hash = $1 LIMIT 1";
        self.one(Query::new(sql, [hash.to_owned().into()]), |columns| columns.bytes()).await
    }

    pub async fn allowed_origins(&self, id: ProjectId) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT origin FROM allowed_origins WHERE project_id = $1 ORDER BY origin";
        self.many(Query::new(sql, [Value::stored(id)]), |columns| columns.text()).await
    }

    pub async fn allows_origin(&self, id: ProjectId, origin: &str) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM allowed_origins WHERE origin = $1 AND project_id = $2";
        let found = self.one(Query::new(sql, [origin.to_owned().into(), Value::stored(id)]), |_| Ok(())).await?;
        Ok(found.is_some())
    }

    /// Whether any active project allows the origin. A CORS preflight request has no key, so nothing more can be
    /// checked.
    pub async fn anyone_allows_origin(&self, origin: &str) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM allowed_origins o JOIN projects p ON p.id = o.project_id \
                   WHERE o.origin = $1 AND p.active = 1 LIMIT 1";
        let found = self.one(Query::new(sql, [origin.to_owned().into()]), |_| Ok(())).await?;
        Ok(found.is_some())
    }
}
