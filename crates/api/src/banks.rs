//! `/v1/banks`: the banks that transfers reach, the same for every project. It only reads.

use axum::{Json, extract::RawQuery};
use domain::destination::{Rail, TransferBank};
use engine::{Listed, Window};
use serde::Serialize;
use utoipa::ToSchema;
use web::query::Query;
use wire::schemas;

use crate::{
    answer::Listing,
    auth::Caller,
    error::ApiError,
    error_code::{FORBIDDEN, KEYED, USABLE, VALIDATION_ERROR, error_codes},
    openapi::{page, page_size, parameters},
};

parameters!(ListParameters: page(), page_size());
error_codes!(ListErrors: KEYED, USABLE, &[FORBIDDEN, VALIDATION_ERROR]);

/// A bank that transfers reach.
#[derive(Serialize, ToSchema)]
#[schema(title = "Bank", as = Bank)]
pub(crate) struct BankJson {
    #[schema(value_type = schemas::TransferBankCode)]
    code: &'static str,
    #[schema(examples("Bank Central Asia (BCA)"))]
    name: &'static str,
    /// The ways in which a transfer reaches it.
    rails: Vec<BankRailJson>,
}

/// A way in which transfers go, and the amounts that it takes.
#[derive(Serialize, ToSchema)]
#[schema(title = "BankRail", as = BankRail)]
struct BankRailJson {
    #[schema(value_type = schemas::Rail)]
    rail: &'static str,
    /// The least amount of one transfer.
    #[schema(value_type = schemas::Amount)]
    least: i64,
    /// The most of one transfer.
    #[schema(value_type = schemas::Amount)]
    most: i64,
}

impl From<&TransferBank> for BankJson {
    fn from(bank: &TransferBank) -> BankJson {
        BankJson {
            code: bank.code,
            name: bank.name,
            rails: bank.rails.iter().copied().map(BankRailJson::from).collect(),
        }
    }
}

impl From<Rail> for BankRailJson {
    fn from(rail: Rail) -> BankRailJson {
        let (least, most) = rail.bounds();
        BankRailJson { rail: rail.word(), least: least.get(), most: most.get() }
    }
}

/// List the banks that transfers reach, those of most customers first.
#[utoipa::path(
    get, path = "/v1/banks", tag = "Refunds", operation_id = "listBanks",
    params(ListParameters),
    responses((status = 200, description = "One page", body = Listing<BankJson>), ListErrors)
)]
pub(crate) async fn list(_: Caller, RawQuery(query): RawQuery) -> Result<Json<Listing<BankJson>>, ApiError> {
    let page = Query::parse(query.as_deref()).page()?;
    let Window { offset, limit } = page.into();
    let place = |count: i64| usize::try_from(count).unwrap_or(usize::MAX);
    let banks = TransferBank::ALL.iter().skip(place(offset)).take(place(limit)).collect();
    let total = i64::try_from(TransferBank::ALL.len()).unwrap_or(i64::MAX);
    Ok(Listing::of(Listed { items: banks, total }, page, BankJson::from))
}
