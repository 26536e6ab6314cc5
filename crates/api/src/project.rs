//! `/v1/project`: the settings of a project, for signed-in members. It only reads.

use axum::Json;
use domain::{method::Method, project::Project};
use engine::Desk;
use serde::Serialize;
use utoipa::ToSchema;
use wire::{method::MethodJson, schemas};

use crate::{
    auth::Member,
    error::ApiError,
    error_code::{KEYED_OR_SIGNED_IN, MEMBERS_ONLY, error_codes},
    openapi::{parameters, project},
};

parameters!(ProjectParameters: project());
error_codes!(ProjectErrors: KEYED_OR_SIGNED_IN, &[MEMBERS_ONLY]);

/// The settings of a project, and the caller's role in it.
#[derive(Serialize, ToSchema)]
#[schema(title = "Project", as = Project)]
pub(crate) struct ProjectJson {
    #[schema(value_type = schemas::ProjectId)]
    id: String,
    /// The project's name, which only its members see.
    #[schema(min_length = 1, max_length = 255, examples("Toko Kopi"))]
    name: String,
    #[schema(value_type = schemas::Environment)]
    environment: &'static str,
    active: bool,
    /// Whether an operator has approved it to take money; sandbox projects need no approval.
    approved: bool,
    #[schema(value_type = schemas::SuccessStatus)]
    success_status: &'static str,
    /// The URL that webhooks are sent to; null if none is set.
    #[schema(value_type = Option<String>, format = "uri", required, examples("https://shop.example/hooks"))]
    webhook_url: Option<String>,
    /// The events that the project gets besides those that every project gets.
    #[schema(value_type = Vec<schemas::ExtraEventType>)]
    extra_events: Vec<&'static str>,
    merchant: MerchantJson,
    /// The origins of web pages that may call the API with a key.
    #[schema(value_type = Vec<schemas::Origin>)]
    allowed_origins: Vec<String>,
    /// The origins of web pages that may show the checkout in a frame.
    #[schema(value_type = Vec<schemas::Origin>)]
    frame_origins: Vec<String>,
    /// All payment methods that the project offers.
    payment_methods: Vec<MethodJson>,
    /// The payment methods of links that name none.
    default_methods: Vec<MethodJson>,
    fees: FeesJson,
    #[schema(value_type = schemas::DateTime)]
    created_at: String,
    #[schema(value_type = schemas::MemberRole)]
    role: &'static str,
}

/// The merchant as customers see it.
#[derive(Serialize, ToSchema)]
#[schema(title = "Merchant", as = Merchant)]
struct MerchantJson {
    #[schema(min_length = 1, max_length = 255, examples("Toko Kopi"))]
    name: String,
    #[schema(examples("JAKARTA"))]
    city: String,
    #[schema(examples("10110"))]
    postal_code: String,
}

/// The fees of this project.
#[derive(Serialize, ToSchema)]
#[schema(title = "Fees", as = Fees)]
struct FeesJson {
    /// The fee of a QRIS payment, in hundredths of a percent of its amount.
    #[schema(minimum = 0, maximum = 10_000, examples(70))]
    qris_basis_points: i64,
    /// The fee of a virtual account payment.
    #[schema(value_type = schemas::Amount)]
    virtual_account: i64,
}

impl ProjectJson {
    fn of(desk: &Desk, allowed_origins: Vec<String>) -> ProjectJson {
        let (project, fees): (&Project, _) = (desk.project(), desk.fees());
        let accounts = project.banks.iter().copied().map(Method::VirtualAccount);
        ProjectJson {
            id: project.id.to_string(),
            name: project.name.clone(),
            environment: project.environment.word(),
            active: project.active,
            approved: project.approved,
            success_status: project.success_word.word(),
            webhook_url: project.webhook_url.clone(),
            extra_events: project.extra_events.iter().map(|kind| kind.word()).collect(),
            merchant: MerchantJson {
                name: project.merchant.name.clone(),
                city: project.merchant.city.clone(),
                postal_code: project.merchant.postal_code.clone(),
            },
            allowed_origins,
            frame_origins: project.frame_origins.clone(),
            payment_methods: std::iter::once(Method::Qris).chain(accounts).map(MethodJson::from).collect(),
            default_methods: project.usable_defaults().into_iter().map(MethodJson::from).collect(),
            fees: FeesJson { qris_basis_points: fees.qris_basis_points, virtual_account: fees.virtual_account.get() },
            created_at: project.created_at.to_string(),
            role: desk.role().word(),
        }
    }
}

/// Get the project; for signed-in members.
#[utoipa::path(
    get, path = "/v1/project", tag = "Project", operation_id = "getProject",
    security(("api_key" = []), ("session" = [])),
    params(ProjectParameters),
    responses((status = 200, description = "The project", body = ProjectJson), ProjectErrors)
)]
pub(crate) async fn get(Member(desk): Member) -> Result<Json<ProjectJson>, ApiError> {
    let allowed_origins = desk.allowed_origins().await?;
    Ok(Json(ProjectJson::of(&desk, allowed_origins)))
}
