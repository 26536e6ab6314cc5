//! `/v1/audit`: what was done in the project and by whom, for signed-in owners. It only reads.

use axum::{Json, extract::RawQuery};
use domain::audit::Deed;
use engine::AuditFilter;
use web::query::Query;
use wire::{audit::AuditLineJson, schemas};

use crate::{
    answer::Listing,
    auth::AuditReader,
    error::ApiError,
    error_code::{KEYED_OR_SIGNED_IN, MEMBERS_ONLY, error_codes},
    openapi::{created_from, created_to, page, page_size, parameters, project, query},
};

parameters!(
    ListParameters: project(), page(), page_size(),
    query::<schemas::AuditAction>("action", "Only lines with this action."),
    created_from(), created_to(),
);
error_codes!(ListErrors: KEYED_OR_SIGNED_IN, &[MEMBERS_ONLY]);

/// List the audit log, newest first; for signed-in owners.
#[utoipa::path(
    get, path = "/v1/audit", tag = "Project", operation_id = "listAuditLines",
    security(("api_key" = []), ("session" = [])),
    params(ListParameters),
    responses((status = 200, description = "One page", body = Listing<AuditLineJson>), ListErrors)
)]
pub(crate) async fn list(
    AuditReader(desk): AuditReader,
    RawQuery(query): RawQuery,
) -> Result<Json<Listing<AuditLineJson>>, ApiError> {
    let query = Query::parse(query.as_deref());
    let page = query.page()?;
    let actions: Vec<(&str, Deed)> = Deed::ALL.iter().map(|deed| (deed.word(), *deed)).collect();
    let filter = AuditFilter { deed: query.choice("action", &actions)?, at: query.created()? };
    let listed = desk.audit_list(&filter, page.into()).await?;
    Ok(Listing::of(listed, page, |audited| {
        let email = audited.email();
        AuditLineJson::of(&audited.line, audited.seal.as_ref(), email)
    }))
}
