//! `lunas bank test`: calls the bank without any effect there. A token shows that its address, our key and our client id are
//! right; a question about a code that does not exist shows that the bank takes our signature too.

use std::time::Instant;

use domain::{
    audit::Deed,
    bank_account::CredentialKind,
    id::{BankAccountId, OpeningId},
    money::Rupiah,
    opening::{BankCode, bank_reference},
    time::Timestamp,
};
use gateway::snap::{
    CallContext, CallError, CodeAsked, CodeKind, Hosting, Parameters, Service, SignOut, SnapClient, TokenRequest,
    Tokens,
};
use rand::RngExt;

use super::line::answer_code;
use crate::{
    Engine, Error,
    bank_error::{BankError, Missing},
    banks::contracts::{open_account::OpenAccount, open_account::Outgoing},
};

/// How a test of an account ended.
#[derive(Debug, PartialEq, Eq)]
pub enum BankTest {
    /// The bank has given us a token, and there is nothing else to ask it.
    Token,
    /// The bank has answered a question about a code that does not exist.
    Answered,
    Failed {
        step: TestStep,
        error: CallError,
    },
}

/// What the bank was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestStep {
    Token,
    Query,
}

impl Engine {
    /// Calls the bank for a token, where its calls need one, and with a question about a code that does not exist, where it
    /// issues codes.
    pub async fn test_bank_account(&self, id: BankAccountId) -> Result<BankTest, Error> {
        let open = self.open_account(id).await?;
        let query = query_of(&open.parameters);
        let needs_token = open.parameters.sign_out != SignOut::Type2 || query.is_none();
        if needs_token && open.parameters.url(Service::Token).is_none() {
            return Err(BankError::NoCalls.into());
        }
        for kind in [CredentialKind::OurKey, CredentialKind::Outbound] {
            if self.bank_secret(id, kind).await?.is_none() {
                return Err(BankError::Missing(vec![Missing::Credential(kind)]).into());
            }
        }
        let test = self.test_calls(&open, open.outgoing()?, needs_token, query).await?;
        let outcome = match &test {
            BankTest::Token => "the bank gave a token".to_owned(),
            BankTest::Answered => "the bank answered".to_owned(),
            BankTest::Failed { error, .. } => error.to_string(),
        };
        self.store.commit(self.audit(None, Deed::BankAccountTested, id, outcome).into()).await?;
        self.save_bank_calls().await?;
        Ok(test)
    }

    async fn test_calls(
        &self,
        open: &OpenAccount,
        outgoing: &Outgoing,
        needs_token: bool,
        query: Option<(CodeKind, Service)>,
    ) -> Result<BankTest, Error> {
        let client = match SnapClient::new(self.is_development().await?) {
            Ok(client) => client,
            Err(error) => {
                let error = CallError::Misconfigured(error.to_string().into());
                return Ok(BankTest::Failed { step: TestStep::Token, error });
            }
        };
        let (tokens, now) = (Tokens::new(), self.now());
        if needs_token {
            let (parameters, client_id, key) = (&open.parameters, outgoing.client_id.as_str(), &outgoing.key);
            let began = Instant::now();
            let token = client.token(TokenRequest { parameters, client_id, key, now }).await;
            let code = answer_code(Service::Token, &token);
            self.note_call_to_bank(open.id(), now, Service::Token, &code, began.elapsed());
            match token {
                Ok(token) => tokens.keep(now, token),
                Err(error) => return Ok(BankTest::Failed { step: TestStep::Token, error }),
            }
        }
        let Some((kind, service)) = query else { return Ok(BankTest::Token) };
        let code = self.nothing(open, kind, now);
        // It is not about an opening, so it is not stored; its external id is new all the same.
        let send = self.new_send(open, &code, service, now).await?;
        let context = CallContext {
            parameters: &open.parameters,
            client_id: &outgoing.client_id,
            secret: &outgoing.secret,
            key: &outgoing.key,
            tokens: &tokens,
            external_id: &send.external_id,
            now,
        };
        let asked = CodeAsked {
            kind,
            reference: &code.reference,
            bank_reference: code.bank_reference.as_deref(),
            number: code.number.as_deref(),
            amount: Rupiah::new(1),
            created_at: now,
        };
        let began = Instant::now();
        let result = client.query(&context, &asked).await;
        self.note_call_to_bank(open.id(), now, service, &answer_code(service, &result), began.elapsed());
        Ok(match result {
            Ok(_) => BankTest::Answered,
            Err(error) => BankTest::Failed { step: TestStep::Query, error },
        })
    }

    /// A code that nobody has asked for.
    fn nothing(&self, open: &OpenAccount, kind: CodeKind, now: Timestamp) -> BankCode {
        let random = || bank_reference(rand::rng().random());
        let opening_id: OpeningId = self.mint(now);
        BankCode {
            account_id: open.id(),
            opening_id,
            generation: 1,
            reference: random(),
            bank_reference: Some(random()),
            number: (kind == CodeKind::Va).then(|| open.drawn_number()),
            asked_at: now,
        }
    }
}

/// By what a bank that issues codes can be asked about one; none where it has no such service.
fn query_of(parameters: &Parameters) -> Option<(CodeKind, Service)> {
    let has_va = parameters.codes.has_va() && parameters.hosting == Hosting::Theirs;
    let kinds = [(CodeKind::Qr, parameters.codes.has_qris()), (CodeKind::Va, has_va)];
    let offered = kinds.into_iter().filter(|(_, is_issued)| *is_issued);
    let asked = offered.map(|(kind, _)| (kind, parameters.query_service(kind)));
    asked.into_iter().find(|(_, service)| parameters.url(*service).is_some())
}
