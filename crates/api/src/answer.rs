//! Builds answers: status, headers and JSON, and the envelope of lists. What is in the JSON is up to each endpoint.

use axum::{
    Json,
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use engine::{Created, Listed};
use serde::Serialize;
use utoipa::ToSchema;
use web::query::Page;

use crate::error::ApiError;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
/// The JSON of a payment is smaller than this, with few exceptions.
const ANSWER_BYTES: usize = 4_096;
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
const IGNORED: HeaderName = HeaderName::from_static("x-ignored-members");

/// A JSON answer to a request that had a body.
pub(crate) struct Answer<T> {
    status: StatusCode,
    body: T,
    replayed: bool,
    ignored: Option<HeaderValue>,
}

impl<T> Answer<T> {
    pub(crate) fn ok(body: T) -> Answer<T> {
        Answer { status: StatusCode::OK, body, replayed: false, ignored: None }
    }

    /// 201 for a new resource, 200 for the one that an earlier request with the same idempotency key created.
    pub(crate) fn created<Made>(made: Created<Made>, render: impl FnOnce(Made) -> T) -> Answer<T> {
        match made {
            Created::New(made) => Answer { status: StatusCode::CREATED, ..Answer::ok(render(made)) },
            Created::Replayed(made) => Answer { replayed: true, ..Answer::ok(render(made)) },
        }
    }

    /// Lists the members of the body that the endpoint does not know in `X-Ignored-Members`.
    pub(crate) fn ignoring(self, ignored: Option<HeaderValue>) -> Answer<T> {
        Answer { ignored, ..self }
    }
}

impl<T: Serialize> IntoResponse for Answer<T> {
    fn into_response(self) -> Response {
        let mut response = (self.status, written(&self.body)).into_response();
        if self.replayed {
            response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
        }
        if let Some(ignored) = self.ignored {
            response.headers_mut().insert(IGNORED, ignored);
        }
        response
    }
}

/// `body` as JSON, in one allocation. `Json` begins with a small one, and moves what it has written each time that it is full.
fn written(body: &impl Serialize) -> Response {
    let mut bytes = Vec::with_capacity(ANSWER_BYTES);
    match serde_json::to_writer(&mut bytes, body) {
        Ok(()) => ([(header::CONTENT_TYPE, JSON)], bytes).into_response(),
        // It words the failure.
        Err(_) => Json(body).into_response(),
    }
}

/// The error of a request whose body was read. It also lists the ignored members, so that a client notices a misspelt name.
pub(crate) struct ErrorAnswer {
    error: ApiError,
    ignored: Option<HeaderValue>,
}

impl ErrorAnswer {
    pub(crate) fn ignoring(error: impl Into<ApiError>, ignored: Option<&HeaderValue>) -> ErrorAnswer {
        ErrorAnswer { error: error.into(), ignored: ignored.cloned() }
    }
}

impl<E: Into<ApiError>> From<E> for ErrorAnswer {
    fn from(error: E) -> ErrorAnswer {
        ErrorAnswer::ignoring(error, None)
    }
}

impl IntoResponse for ErrorAnswer {
    fn into_response(self) -> Response {
        let mut response = self.error.into_response();
        if let Some(ignored) = self.ignored {
            response.headers_mut().insert(IGNORED, ignored);
        }
        response
    }
}

/// One page of a list.
#[derive(Serialize, ToSchema)]
pub(crate) struct Listing<T> {
    data: Vec<T>,
    pagination: Pagination,
}

/// Which page this is, and how many there are.
#[derive(Serialize, ToSchema)]
pub(crate) struct Pagination {
    #[schema(minimum = 1, examples(1))]
    page: i64,
    #[schema(minimum = 1, maximum = 100, examples(20))]
    page_size: i64,
    /// The number of items on all pages together.
    #[schema(minimum = 0, examples(41))]
    total_items: i64,
    #[schema(minimum = 0, examples(3))]
    total_pages: i64,
}

impl<T> Listing<T> {
    pub(crate) fn of<Item>(listed: Listed<Item>, page: Page, render: impl FnMut(Item) -> T) -> Json<Listing<T>> {
        let total_pages = (listed.total + page.size - 1) / page.size;
        let pagination = Pagination { page: page.number, page_size: page.size, total_items: listed.total, total_pages };
        Json(Listing { data: listed.items.into_iter().map(render).collect(), pagination })
    }
}
