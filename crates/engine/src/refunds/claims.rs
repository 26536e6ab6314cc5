//! The page on which a customer says where the money shall go. Its link is the only key to it, so it shows nothing that its holder
//! did not know, and takes a bounded number of tries.
//!
//! Between its two steps nothing is stored: what was typed is in a ticket that only this installation can open, and that the
//! form brings back.

use std::{sync::Arc, time::Duration};

use domain::{
    audit::{Actor, Deed},
    destination::{AccountNumber, TransferBank, TypedDestination},
    hex::{hex, unhex},
    payment::Payment,
    project::Project,
    refund::{Party, Refund, RefundState},
    time::Timestamp,
    user::{Token, TokenHash},
};
use secrecy::ExposeSecret;
use store::{CommitError, Guard, RefundWrite, SealedColumn};

use super::{create::refund_line, holder::HolderAnswer, steps::Decided};
use crate::{Engine, Error, OpenClaim, vault::Place};

/// How long a ticket between the two steps is good.
const TICKET_LIFETIME: Duration = Duration::from_mins(30);

/// What the claim page of a refund shows.
#[derive(Clone)]
pub struct ClaimPage {
    pub refund: Refund,
    /// The payment that is given back, or that the money was sent for.
    pub payment: Payment,
    pub project: Arc<Project>,
    hash: TokenHash,
}

/// What is known of an account that a customer has typed.
pub enum AccountAnswer {
    /// The form may be confirmed with this ticket.
    Checked { destination: TypedDestination, ticket: String },
    /// The bank knows no such account, or it is closed.
    Refused,
    /// The link takes no account any more.
    Closed,
}

impl Engine {
    /// What the claim page with this token shows. A token that is unknown or was replaced leads nowhere.
    pub async fn claim(&self, token: &Token) -> Result<ClaimPage, Error> {
        let refund = self.store.refund_by_claim(token.hash()).await?.ok_or(Error::NotFound("page"))?;
        let payment = self.store.payment(refund.of.about()).await?.ok_or(Error::NotFound("payment"))?;
        let project = self.project_of(&payment).await?;
        Ok(ClaimPage { refund, payment, project, hash: token.hash() })
    }

    /// Looks at an account that a customer has typed, which counts as a try.
    pub async fn check_claimed_account(
        &self,
        page: &ClaimPage,
        destination: TypedDestination,
    ) -> Result<AccountAnswer, Error> {
        let now = self.now();
        if !page.refund.takes_claims(now) {
            return Ok(AccountAnswer::Closed);
        }
        let tried = RefundWrite::ClaimTried { id: page.refund.id, hash: page.hash, now };
        match self.store.commit(tried.into()).await {
            Ok(()) => {}
            Err(CommitError::Conflict(Guard::ClaimOpen)) => return Ok(AccountAnswer::Closed),
            Err(error) => return Err(error.into()),
        }
        let destination = match self.ask_for_holder(&page.project, &destination, page.refund.amount).await? {
            HolderAnswer::Said(name) => TypedDestination { holder: Some(name), is_checked: true, ..destination },
            HolderAnswer::Unknown => destination,
            HolderAnswer::Refused => return Ok(AccountAnswer::Refused),
        };
        let ticket = self.claim_ticket(&page.refund, &destination, now)?;
        Ok(AccountAnswer::Checked { destination, ticket })
    }

    /// The customer confirms an account. False where the link takes none any more: of all who name one, the first is taken.
    pub async fn claim_destination(
        &self,
        token: &Token,
        destination: &TypedDestination,
        address: String,
    ) -> Result<bool, Error> {
        let page = self.claim(token).await?;
        let engine = self.by(Actor::Stranger { address });
        let (project, id) = (&page.project, page.refund.id);
        let claimed = engine.advance_refund(project, id, |basis| {
            // A link that was renewed meanwhile names no account any more.
            let ends = |refund: &Refund| refund.claim.map(|claim| claim.expires_at);
            if !basis.refund.takes_account(basis.now) || ends(&basis.refund) != ends(&page.refund) {
                return Err(Error::ClaimClosed);
            }
            let amount = basis.refund.amount;
            let by = Party::Customer;
            let needs_approval = engine.needs_approval(project, amount, Some(by));
            let step = basis.refund.clone().give_destination(destination.shown(), by, needs_approval, basis.now)?;
            let line = engine.audit(Some(project.id), Deed::RefundDestinationGiven, id, refund_line(&step.refund));
            let sealed_number = Some(engine.sealed_number(id, destination)?);
            Ok(Decided { sealed_number, ..Decided::from(step).with(line) })
        });
        match claimed.await {
            Ok(_) => Ok(true),
            Err(Error::ClaimClosed) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Whether this is the account that the refund goes to.
    pub async fn is_claimed_account(&self, page: &ClaimPage, destination: &TypedDestination) -> Result<bool, Error> {
        let Some(shown) = &page.refund.destination else { return Ok(false) };
        let number = self.refund_number(&page.refund).await?;
        Ok(shown.bank == destination.bank && number.is_some_and(|number| number == destination.number))
    }

    /// The whole number of the account that a refund goes to; for who transfers it.
    pub(crate) async fn refund_number(&self, refund: &Refund) -> Result<Option<AccountNumber>, Error> {
        let secrets = self.store.refund_secrets(refund.id).await?;
        let Some(sealed) = secrets.and_then(|secrets| secrets.number) else { return Ok(None) };
        let opened = self.vault.open(SealedColumn::RefundDestination, &refund.id.to_string(), &sealed)?;
        Ok(AccountNumber::parse(opened.expose_secret()).ok())
    }

    fn claim_ticket(&self, refund: &Refund, to: &TypedDestination, now: Timestamp) -> Result<String, Error> {
        let until = now.plus(TICKET_LIFETIME).as_millis();
        let checked = u8::from(to.is_checked);
        let holder = to.holder.as_deref().unwrap_or_default();
        let text = format!("{until}\n{}\n{}\n{checked}\n{holder}", to.bank.code, to.number.reveal());
        let sealed = self.vault.seal(Place::ClaimTicket, &refund.id.to_string(), text.as_bytes())?;
        Ok(hex(&sealed))
    }

    /// What a ticket of this page says; none where it is too old, or none of ours.
    pub fn open_claim_ticket(&self, page: &ClaimPage, ticket: &str) -> Option<TypedDestination> {
        let sealed = unhex(ticket)?;
        let opened = self.vault.open(Place::ClaimTicket, &page.refund.id.to_string(), &sealed).ok()?;
        let mut lines = opened.expose_secret().splitn(5, '\n');
        let until = Timestamp::from_millis(lines.next()?.parse().ok()?);
        let bank = TransferBank::from_code(lines.next()?)?;
        let number = AccountNumber::parse(lines.next()?).ok()?;
        let is_checked = lines.next()? == "1";
        let holder = lines.next().filter(|holder| !holder.is_empty()).map(str::to_owned);
        (self.now() <= until).then_some(TypedDestination { bank, number, holder, is_checked })
    }

    /// The token of the claim page, where a refund waits for an account.
    pub async fn claim_token(&self, refund: &Refund) -> Result<Option<Token>, Error> {
        if refund.state != RefundState::RequiresAction {
            return Ok(None);
        }
        let secrets = self.store.refund_secrets(refund.id).await?;
        let Some(sealed) = secrets.and_then(|secrets| secrets.claim) else { return Ok(None) };
        let token = self.vault.open(SealedColumn::RefundClaim, &refund.id.to_string(), &sealed)?;
        Ok(Token::parse(token.expose_secret()))
    }

    /// The address of the claim page, where a refund waits for an account.
    pub async fn claim_url(&self, pages_url: &str, refund: &Refund) -> Result<Option<String>, Error> {
        let token = self.claim_token(refund).await?;
        Ok(token.map(|token| format!("{}/r/{}", pages_url.trim_end_matches('/'), token.reveal())))
    }

    /// The link for the customer, while it takes an account; for a member who does not see it now, without its token.
    pub(crate) async fn open_claim(&self, refund: &Refund, is_seen: bool) -> Result<Option<OpenClaim>, Error> {
        let Some(claim) = refund.claim.filter(|_| refund.takes_claims(self.now())) else { return Ok(None) };
        let token = self.claim_token(refund).await?;
        Ok(token.map(|token| OpenClaim { token: is_seen.then_some(token), expires_at: claim.expires_at }))
    }
}
