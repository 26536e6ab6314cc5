//! Who asks: tokens (73), timestamps, signatures and external ids.

use std::sync::Arc;

use serde_json::Value;

use super::{
    bank::{BankServices, Member},
    habits::Habits,
    request::{Reply, ServiceRequest},
};
use crate::{
    compose::Signed,
    crypto::{hmac_verifies, random_alphanumeric, rsa_verifies},
    journal::held,
    prepared::Service,
    style::Signing,
    time,
};

/// How long a token lives.
pub(super) const TOKEN_SECONDS: i64 = 899;
/// How far a timestamp may be from the bank's clock.
const SKEW_MOST_MS: i64 = 5 * 60 * 1000;
/// How many tokens are remembered.
const TOKENS_MOST: usize = 1_000;
const EXTERNAL_ID_MOST: usize = 36;
/// The services for which a bank may have a channel of their own.
const TRANSFER_SERVICES: [Service; 9] = [
    Service::Balance,
    Service::Statement,
    Service::InternalInquiry,
    Service::ExternalInquiry,
    Service::Intrabank,
    Service::Interbank,
    Service::Rtgs,
    Service::Skn,
    Service::TransferStatus,
];

impl BankServices {
    /// 73
    pub(super) fn give_token(&self, asked: &ServiceRequest<'_>) -> Reply {
        if let Some(missing) = asked.missing_header(&["X-CLIENT-KEY", "X-TIMESTAMP", "X-SIGNATURE"]) {
            return missing;
        }
        let (client_id, timestamp) = (asked.header("X-CLIENT-KEY"), asked.header("X-TIMESTAMP"));
        if !is_timely(asked, timestamp) {
            return asked.malformed("X-TIMESTAMP");
        }
        let Some(member) = self.member(client_id) else {
            return asked.answer(401, "00", "Unauthorized. [Unknown client]");
        };
        let signed = format!("{client_id}|{timestamp}");
        if !rsa_verifies(&member.merchant.public_key_pem, &signed, asked.header("X-SIGNATURE")) {
            return asked.answer(401, "00", "Unauthorized. [Signature]");
        }
        let body: Value = serde_json::from_slice(asked.body).unwrap_or_default();
        if body[member.habits.grant_member] != "client_credentials" {
            return asked.missing(member.habits.grant_member);
        }
        let token = random_alphanumeric(40);
        let mut tokens = held(&self.tokens);
        if tokens.len() >= TOKENS_MOST {
            tokens.clear();
        }
        tokens.insert(token.clone(), (client_id.to_owned(), asked.now_ms + TOKEN_SECONDS * 1000));
        let (status, mut answer) = asked.answer(200, "00", "Successful");
        answer["accessToken"] = token.into();
        answer["tokenType"] = "Bearer".into();
        answer["expiresIn"] = TOKEN_SECONDS.to_string().into();
        (status, answer)
    }

    /// The merchant that asks, if the request is signed as it must be and its external id is new.
    pub(super) fn verify(&self, asked: &ServiceRequest<'_>) -> Result<Arc<Member>, Reply> {
        let names = ["X-TIMESTAMP", "X-SIGNATURE", "X-PARTNER-ID", "X-EXTERNAL-ID", "CHANNEL-ID"];
        if let Some(missing) = asked.missing_header(&names) {
            return Err(missing);
        }
        if !is_timely(asked, asked.header("X-TIMESTAMP")) {
            return Err(asked.malformed("X-TIMESTAMP"));
        }
        let member = self.signer(asked)?;
        self.check_headers(asked, &member)?;
        Ok(member)
    }

    /// The merchant whose token or partner id the request carries, and whose signature it has.
    fn signer(&self, asked: &ServiceRequest<'_>) -> Result<Arc<Member>, Reply> {
        let unauthorized = |why: &str| asked.answer(401, "00", &format!("Unauthorized. [{why}]"));
        let (body, signature) = (asked.minified(), asked.header("X-SIGNATURE"));
        let timestamp = asked.header("X-TIMESTAMP");
        let signed = Signed { method: asked.method, path: asked.path, body: body.as_bytes(), timestamp };
        if let Some(member) = self.signer_with_key(asked.header("X-PARTNER-ID")) {
            let is_signed = rsa_verifies(&member.merchant.public_key_pem, &signed.without_token(), signature);
            return if is_signed { Ok(member) } else { Err(unauthorized("Signature")) };
        }
        if asked.header("Authorization").is_empty() {
            return Err(asked.missing("Authorization"));
        }
        let token = asked.token();
        let owner = held(&self.tokens).get(token).filter(|(_, ends_at_ms)| asked.now_ms < *ends_at_ms).cloned();
        let Some(member) = owner.and_then(|(client_id, _)| self.member(&client_id)) else {
            return Err(asked.answer(401, "01", "Invalid token (B2B)"));
        };
        if member.merchant.partner_id.as_deref().is_some_and(|id| id != asked.header("X-PARTNER-ID")) {
            return Err(unauthorized("X-PARTNER-ID"));
        }
        if !hmac_verifies(&member.merchant.client_secret, &signed.with_token(token), signature) {
            return Err(unauthorized("Signature"));
        }
        Ok(member)
    }

    /// The merchant that signs with its key and has this partner id.
    fn signer_with_key(&self, partner_id: &str) -> Option<Arc<Member>> {
        let is_it = |member: &&Arc<Member>| {
            let merchant = &member.merchant;
            let own = merchant.partner_id.as_ref().unwrap_or(&merchant.client_id);
            member.habits.signing == Signing::Key && own == partner_id
        };
        held(&self.members).values().find(is_it).cloned()
    }

    fn check_headers(&self, asked: &ServiceRequest<'_>, member: &Member) -> Result<(), Reply> {
        let habits = &member.habits;
        // Programs of many merchants send milliseconds to every bank; some banks insist on them.
        if habits.milliseconds && !asked.header("X-TIMESTAMP").contains('.') {
            return Err(asked.malformed("X-TIMESTAMP"));
        }
        let is_transfer = TRANSFER_SERVICES.contains(&asked.service);
        if is_transfer && habits.transfer.channel_id.is_some_and(|id| id != asked.header("CHANNEL-ID")) {
            return Err(asked.malformed("CHANNEL-ID"));
        }
        let external_id = asked.header("X-EXTERNAL-ID");
        if !is_external_id(external_id, habits) {
            return Err(asked.malformed("X-EXTERNAL-ID"));
        }
        let day = time::day(asked.now_ms);
        let is_new = held(&self.external_ids).is_new(&member.merchant.client_id, external_id, day);
        if !is_new && !self.repeats_refund(asked, member) {
            return Err(asked.answer(409, "00", "Conflict"));
        }
        Ok(())
    }

    /// Ends the life of a token.
    pub(super) fn forget_token(&self, token: &str) {
        held(&self.tokens).remove(token);
    }
}

fn is_timely(asked: &ServiceRequest<'_>, timestamp: &str) -> bool {
    time::parse(timestamp).is_some_and(|at_ms| at_ms.abs_diff(asked.now_ms) <= SKEW_MOST_MS.unsigned_abs())
}

fn is_external_id(text: &str, habits: &Habits) -> bool {
    match habits.external_id_digits {
        Some(length) => text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit()),
        None => text.len() <= EXTERNAL_ID_MOST && text.bytes().all(|byte| byte.is_ascii_graphic()),
    }
}
