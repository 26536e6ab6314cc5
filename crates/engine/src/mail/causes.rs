//! The letters that use cases queue with what they do.

use std::time::Duration;

use domain::{
    access::Role,
    audit::Actor,
    event::HeldMoney,
    id::ProjectId,
    language::Language,
    link::Link,
    payment::Payment,
    project::{Environment, Project},
    time::Timestamp,
    user::{Email, Invite, Session, Token, User},
};
use letters::{
    Customer, FactorChange, FactorChanged, Invitation, Letter, MoneyHeld, NewDevice, Origin, PasswordChange,
    PasswordChanged, PaymentReceipt,
};
use store::Write;

use super::queue::Envelope;
use crate::{
    Engine, Error, Whereabouts,
    known_browsers::{self, Account},
    lost_passwords::FORGOT,
};

/// Who has made an account a moment ago knows that they are signed in.
const NEW_ACCOUNT: Duration = Duration::from_mins(1);

impl Engine {
    /// Tells a user that somebody has signed in from a browser in which they never did.
    pub(crate) fn new_device_letter(
        &self,
        user: &User,
        password: &str,
        session: &Session,
        from: &Whereabouts,
    ) -> Result<Vec<Write>, Error> {
        let now = session.created_at;
        let (cookie, account) = (from.known_browser.as_deref(), Account { email: &user.email, password });
        let is_known = cookie.is_some_and(|cookie| known_browsers::entry(&self.vault, cookie, account, now).is_some());
        if is_known || now < user.created_at.plus(NEW_ACCOUNT) {
            return Ok(Vec::new());
        }
        let browser = Some(session.browser.clone()).filter(|browser| !browser.is_empty());
        let signed_in = Origin { at: now, address: Some(session.address.clone()), browser };
        let (account, account_url) = (user.email.to_string(), self.page_url("/dashboard/account"));
        self.letter_to_user(user, &Letter::NewDevice(NewDevice { account, signed_in, account_url }))
    }

    /// Tells a user that their password was changed.
    pub(crate) fn password_letter(&self, user: &User, by: PasswordChange) -> Result<Vec<Write>, Error> {
        let changed = self.origin();
        let (account, forgot_url) = (user.email.to_string(), self.page_url(FORGOT));
        self.letter_to_user(user, &Letter::PasswordChanged(PasswordChanged { account, changed, by, forgot_url }))
    }

    /// Tells a user what was done to their second factor.
    pub(crate) fn factor_letter(&self, user: &User, change: FactorChange) -> Result<Vec<Write>, Error> {
        let (account, account_url) = (user.email.to_string(), self.page_url("/dashboard/account"));
        let letter = FactorChanged { account, change, done: self.origin(), account_url };
        self.letter_to_user(user, &Letter::FactorChanged(letter))
    }

    /// Now, and from where the actor acts.
    fn origin(&self) -> Origin {
        let address = match self.actor.as_ref() {
            Actor::User { address, .. } | Actor::Stranger { address } => Some(address.clone()),
            Actor::Key(_) | Actor::CommandLine => None,
        };
        Origin { at: self.now(), address, browser: None }
    }

    /// Brings an invitation to whom it names.
    pub(crate) fn invitation_letter(
        &self,
        project: &Project,
        by: &User,
        language: Language,
        invite: &Invite,
        token: &Token,
    ) -> Result<Vec<Write>, Error> {
        let letter = Letter::Invitation(Invitation {
            project: project.name.clone(),
            role: invite.role,
            invited_by: Some(by.email.to_string()),
            link: self.page_url(&format!("/dashboard/invite/{}", token.reveal())),
            expires_at: invite.expires_at,
        });
        self.letter(Envelope::to_address(&invite.email, language).about(project.id), &letter)
    }

    /// Sends the receipt to a customer who left an address, if the project wants that, and to the project's URL, if it wants that of
    /// customers who left an address or a phone number: there a program passes it on.
    pub(crate) async fn receipt_letter(
        &self,
        project: &Project,
        payment: &Payment,
        link: Option<&Link>,
        paid_at: Timestamp,
    ) -> Result<Vec<Write>, Error> {
        let Some(checkout) = payment.terms.checkout.as_ref() else { return Ok(Vec::new()) };
        let (email, customer) = (self.receipts_go_to(project, &checkout.customer.email).await?, reachable(payment));
        if email.is_none() && customer.is_none() {
            return Ok(Vec::new());
        }
        let cause = format!("receipt {}", payment.id);
        let receipt = self.payment_receipt(project, payment, link, paid_at);
        let mut writes = Vec::new();
        if let Some(email) = email {
            let envelope = Envelope::to_address(&email, payment.terms.customer_language()).about(project.id);
            writes.extend(self.letter(envelope.once_for(&cause), &Letter::Receipt(receipt.clone()))?);
        }
        if customer.is_some() {
            let noticed = PaymentReceipt { customer, ..receipt };
            writes.extend(self.project_notice(project.id, &Letter::Receipt(noticed), Some(cause)).await?);
        }
        Ok(writes)
    }

    fn payment_receipt(
        &self,
        project: &Project,
        payment: &Payment,
        link: Option<&Link>,
        paid_at: Timestamp,
    ) -> PaymentReceipt {
        PaymentReceipt {
            title: link.map_or_else(|| project.name.clone(), |link| link.title.clone()),
            amount: payment.terms.amount,
            paid_at,
            method: payment.terms.method,
            payment_id: payment.id.to_string(),
            reference: Some(payment.terms.reference.clone()).filter(|reference| !reference.is_empty()),
            payment_url: self.page_url(&format!("/pay/{}", payment.id)),
            is_sandbox: project.environment == Environment::Sandbox,
            customer: None,
        }
    }

    /// The address that receipts of a project go to, for a customer who left this one. Everybody who has an account may have a sandbox,
    /// so a sandbox writes to its own members alone: else they could have letters sent to any stranger.
    pub(super) async fn receipts_go_to(&self, project: &Project, left: &str) -> Result<Option<Email>, Error> {
        let Some(email) = Email::parse(left).ok().filter(|_| self.has_mail()) else { return Ok(None) };
        if !self.store.sends_receipts(project.id).await? {
            return Ok(None);
        }
        let is_written_to = match project.environment {
            Environment::Production => true,
            Environment::Sandbox => {
                let members = self.store.members(project.id).await?;
                members.iter().any(|member| member.user.is_active() && member.user.email == email)
            }
        };
        Ok(Some(email).filter(|_| is_written_to))
    }

    /// Tells those who decide about it that money is held.
    pub(crate) async fn held_letters(
        &self,
        project: &Project,
        payment: &Payment,
        money: HeldMoney,
        now: Timestamp,
    ) -> Result<Vec<Write>, Error> {
        let letter = Letter::MoneyHeld(MoneyHeld {
            project: project.name.clone(),
            amount: money.amount,
            received_at: now,
            reason: money.reason,
            payment_id: payment.id.to_string(),
            page_url: self.page_url(&format!("/dashboard/{}/balance/receipts/{}", project.id, money.receipt)),
            is_sandbox: project.environment == Environment::Sandbox,
        });
        self.letters_to_members(project.id, &letter).await
    }

    /// The same letter to each member of a project whose role is for its kind, and to the project's URL.
    pub(crate) async fn letters_to_members(&self, project_id: ProjectId, letter: &Letter) -> Result<Vec<Write>, Error> {
        let mut writes = self.project_notice(project_id, letter, None).await?;
        if !self.has_mail() {
            return Ok(writes);
        }
        let fits = |role: Role| letter.kind().member_act().is_some_and(|act| role.may(act));
        let members = self.store.members(project_id).await?;
        for member in members.into_iter().filter(|member| fits(member.role) && member.user.is_active()) {
            writes.extend(self.letter(Envelope::to_user(&member.user).about(project_id), letter)?);
        }
        Ok(writes)
    }
}

/// The customer of a payment, if they left a way to reach them: a program can pass on what the project's URL gets.
pub(super) fn reachable(payment: &Payment) -> Option<Customer> {
    let left = &payment.terms.checkout.as_ref()?.customer;
    let is_reachable = !left.email.is_empty() || !left.phone.is_empty();
    is_reachable.then(|| Customer { name: left.name.clone(), email: left.email.clone(), phone: left.phone.clone() })
}
