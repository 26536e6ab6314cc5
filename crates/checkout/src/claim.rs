//! `/r/<token>`: the page on which a customer says to which bank account money that comes back shall go, and sees what becomes
//! of it. Who has the link may use it once.
//!
//! The form has two steps, and the browser keeps nothing in between. First the bank is asked whose account it is; what was
//! typed and answered goes into a sealed ticket, which the second step sends back. So what is confirmed is what was shown.

use std::collections::BTreeMap;

use axum::{
    Json,
    extract::State,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use domain::{
    destination::{AccountNumber, HOLDER, TransferBank, TypedDestination},
    rules::Fault,
    user::Token,
};
use engine::{AccountAnswer, Error};
use web::{
    App, Failure, client,
    page::{form::Form, page_error::PageError, render::see_other, visitor::Visitor},
};

use crate::{
    claim_link::ClaimLink,
    claim_pages::{Typed, standing},
    path_id::PathId,
    view::{BankMistake, ClaimStanding, Holder, HolderMistake, NumberMistake},
};

pub(super) type TokenPath = Result<PathId<String>, PageError>;

/// The token in a path. One that is malformed is answered like an unknown one.
fn token_of(path: TokenPath) -> Result<Token, PageError> {
    let PathId(text) = path?;
    Ok(Token::parse(&text).ok_or(Error::NotFound("page"))?)
}

/// GET `/r/<token>`: the form, or what has become of the money. It changes nothing.
pub(super) async fn show(State(app): State<App>, visitor: Visitor, path: TokenPath) -> Result<Response, PageError> {
    Ok(ClaimLink::read(&app, &visitor, token_of(path)?).await?.page_as_it_stands(StatusCode::OK))
}

/// GET `/r/<token>/status`: where the refund stands, for polling.
pub(super) async fn status(State(app): State<App>, path: TokenPath) -> Result<Response, PageError> {
    let page = app.engine.claim(&token_of(path)?).await?;
    let word = standing(&page, app.engine.now()).map_or("open", ClaimStanding::word);
    Ok(Json(BTreeMap::from([("status", word)])).into_response())
}

/// POST `/r/<token>`: a step of the form.
pub(super) async fn submit(
    State(app): State<App>,
    visitor: Visitor,
    path: TokenPath,
    form: Result<Form, PageError>,
) -> Result<Response, PageError> {
    if let Some(retry_after) = app.limits.public_form(client::limited_as(visitor.address)) {
        return Err(Failure::RateLimited { retry_after }.into());
    }
    let form = form?;
    let link = ClaimLink::read(&app, &visitor, token_of(path)?).await?;
    match form.text("step") {
        Some("check") => link.check(&form).await,
        Some("confirm") => link.confirm(&form).await,
        Some("change") => Ok(link.change(&form)),
        _ => Err(PageError::with(StatusCode::UNPROCESSABLE_ENTITY)),
    }
}

impl ClaimLink<'_> {
    /// Whether the first step can be sent.
    fn is_open(&self) -> bool {
        standing(&self.page, self.app.engine.now()).is_none()
    }

    /// The first step: asks the bank whose account it is.
    async fn check(mut self, form: &Form) -> Result<Response, PageError> {
        if !self.is_open() {
            return Ok(self.page_as_it_stands(StatusCode::CONFLICT));
        }
        let text = |name| form.text(name).unwrap_or_default().trim().to_owned();
        let mut typed = Typed { bank: text("bank"), number: text("number"), ..Typed::default() };
        let Some(destination) = self.parse(&mut typed) else {
            return Ok(self.form(StatusCode::UNPROCESSABLE_ENTITY, typed));
        };
        if let Some(seconds) = self.app.limits.account_inquiry(client::limited_as(self.visitor.address)) {
            let mut response = self.form(StatusCode::TOO_MANY_REQUESTS, Typed { wait: Some(seconds), ..typed });
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
            return Ok(response);
        }
        match self.app.engine.check_claimed_account(&self.page, destination).await? {
            AccountAnswer::Checked { destination, ticket } => {
                let asked = || Holder::Asked { value: String::new(), mistake: None };
                let holder = destination.holder.clone().map_or_else(asked, Holder::Said);
                Ok(self.confirmation(StatusCode::OK, &destination, ticket, holder))
            }
            AccountAnswer::Refused => {
                typed.number_mistake = Some(NumberMistake::Refused);
                Ok(self.form(StatusCode::UNPROCESSABLE_ENTITY, typed))
            }
            // Somebody else was quicker, or that was one try too many.
            AccountAnswer::Closed => {
                self.page = self.app.engine.claim(&self.token).await?;
                Ok(self.page_as_it_stands(StatusCode::CONFLICT))
            }
        }
    }

    /// What was typed, if it can be asked about; else says what is wrong with it.
    fn parse(&self, typed: &mut Typed) -> Option<TypedDestination> {
        let bank = TransferBank::from_code(&typed.bank);
        typed.bank_mistake = match bank {
            None => Some(BankMistake::Missing),
            Some(bank) => (!bank.is_reached_by(self.page.refund.amount)).then_some(BankMistake::OutOfReach),
        };
        let number = AccountNumber::parse(&typed.number).ok();
        typed.number_mistake = match &number {
            Some(_) => None,
            None if typed.number.is_empty() => Some(NumberMistake::Missing),
            None => Some(NumberMistake::Malformed),
        };
        let bank = bank.filter(|_| typed.bank_mistake.is_none())?;
        Some(TypedDestination { bank, number: number?, holder: None, is_checked: false })
    }

    /// The second step: the account is the one that was shown. Sent twice, it gets the same answer twice.
    async fn confirm(mut self, form: &Form) -> Result<Response, PageError> {
        let Some((ticket, mut destination)) = self.sealed(form) else { return Ok(self.begin_anew()) };
        let takes_account = self.page.refund.takes_account(self.app.engine.now());
        if !destination.is_checked {
            let holder = form.text("holder").unwrap_or_default().trim().to_owned();
            if let Some(fault) = HOLDER.fault(&holder).filter(|_| takes_account) {
                let holder = Holder::Asked { value: holder, mistake: Some(mistake(fault)) };
                return Ok(self.confirmation(StatusCode::UNPROCESSABLE_ENTITY, &destination, ticket, holder));
            }
            destination.holder = Some(holder);
        }
        let (engine, visitor) = (&self.app.engine, self.visitor);
        if takes_account && engine.claim_destination(&self.token, &destination, visitor.address.to_string()).await? {
            return Ok(self.redirect());
        }
        // It was named before: by this form sent twice, by another one of the link, or by the merchant.
        self.page = engine.claim(&self.token).await?;
        if engine.is_claimed_account(&self.page, &destination).await? {
            return Ok(self.redirect());
        }
        Ok(match standing(&self.page, engine.now()) {
            Some(standing) => self.ended(StatusCode::CONFLICT, standing, self.page.refund.destination.is_some()),
            None => self.form(StatusCode::CONFLICT, Typed::default()),
        })
    }

    /// It is not the customer's account: back to the form, with what was typed.
    fn change(&self, form: &Form) -> Response {
        let Some((_, destination)) = self.sealed(form).filter(|_| self.is_open()) else { return self.begin_anew() };
        let number = destination.number.reveal().to_owned();
        self.form(StatusCode::OK, Typed { bank: destination.bank.code.to_owned(), number, ..Typed::default() })
    }

    /// The ticket that a form sends back, and what is in it.
    fn sealed(&self, form: &Form) -> Option<(String, TypedDestination)> {
        let ticket = form.text("ticket")?;
        Some((ticket.to_owned(), self.app.engine.open_claim_ticket(&self.page, ticket)?))
    }

    /// The answer to a ticket that is too old, or none of this link.
    fn begin_anew(&self) -> Response {
        self.page_as_it_stands(if self.is_open() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::CONFLICT })
    }

    fn redirect(&self) -> Response {
        see_other(&self.url(""))
    }
}

const fn mistake(fault: Fault) -> HolderMistake {
    match fault {
        Fault::Empty => HolderMistake::Missing,
        Fault::TooLong { most } => HolderMistake::TooLong { most },
        Fault::Malformed => HolderMistake::Malformed,
    }
}
