//! Service 73: a bank gets a token, with which it signs what it asks.

use axum::response::Response;
use engine::TOKEN_LIFETIME;
use gateway::snap::ResponseCase;

use crate::{
    answer::{BAD_FORMAT, Body, Refusal},
    door::Call,
    members::Members,
    service::Service,
};

const GRANT_TYPE: &str = "grantType";
const CLIENT_CREDENTIALS: &str = "client_credentials";

pub(crate) fn answer(call: &Call) -> Result<Response, Refusal> {
    let token = call.token()?;
    let members = Members::read(call.body(), &call.open.parameters)?;
    members.require(&[GRANT_TYPE])?;
    if members.text(GRANT_TYPE).as_deref() != Ok(CLIENT_CREDENTIALS) {
        return Err(Refusal::Malformed(GRANT_TYPE.to_owned(), BAD_FORMAT));
    }
    let body = Body::new(ResponseCase::new(200, 0), "Successful")
        .with("accessToken", token)
        .with("tokenType", call.open.parameters.token_type.clone())
        .with("expiresIn", TOKEN_LIFETIME.as_secs().to_string());
    Ok(body.answer(Service::Token, call.now))
}
