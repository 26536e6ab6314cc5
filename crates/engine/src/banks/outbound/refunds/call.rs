//! Questions to a bank about sending money; each may be asked as often as one likes.

use domain::money::Rupiah;
use gateway::snap::{
    CallError, NameAsked, NameTold, OrderStanding, RailServices, RefundAsked, Service, StatementAsked, StatementPage,
    TransferAsked,
};
use store::OpeningWrite;

use crate::{
    Engine, Error,
    banks::{
        contracts::open_account::OpenAccount,
        outbound::{
            line::{answer_code, not_set_up},
            rows::answer_write,
        },
    },
};

/// What is asked.
pub(super) enum Question<'a> {
    Transfer(TransferAsked<'a>),
    Refund(RefundAsked<'a>),
    Name(NameAsked<'a>),
    Statement(StatementAsked),
    Balance,
}

/// What the bank has answered.
pub(super) enum Reply {
    Standing(OrderStanding),
    Name(NameTold),
    Statement(StatementPage),
    Balance(Rupiah),
}

impl Question<'_> {
    fn service(&self, open: &OpenAccount) -> Service {
        match self {
            Question::Transfer(asked) => RailServices::of(asked.rail).status,
            Question::Refund(asked) => open.parameters.query_service(asked.code.kind),
            Question::Name(asked) => RailServices::of(asked.rail).inquiry,
            Question::Statement(..) => Service::Statement,
            Question::Balance => Service::Balance,
        }
    }
}

impl Engine {
    /// Asks a bank; once more with a new token if it has refused ours.
    pub(super) async fn ask_bank(
        &self,
        open: &OpenAccount,
        question: &Question<'_>,
    ) -> Result<Result<Reply, CallError>, Error> {
        let Ok(outgoing) = open.outgoing() else { return Ok(Err(not_set_up())) };
        let service = question.service(open);
        for last in [false, true] {
            let call = match self.dial(open, outgoing).await {
                Ok(call) => call,
                Err(error) => return Ok(Err(error)),
            };
            // Only what is really sent is stored.
            let send = self.stored_send_without_code(open, service, self.now()).await?;
            let (client, context) = (&call.client, call.context(open, outgoing, &send.external_id));
            let result = match question {
                Question::Transfer(asked) => client.transfer_standing(&context, asked).await.map(Reply::Standing),
                Question::Refund(asked) => client.refund_standing(&context, asked).await.map(Reply::Standing),
                Question::Name(asked) => client.beneficiary_name(&context, asked).await.map(Reply::Name),
                Question::Statement(asked) => client.statement_page(&context, asked).await.map(Reply::Statement),
                Question::Balance => client.balance(&context).await.map(Reply::Balance),
            };
            self.hang_up(call, open, service, &result);
            let answered: OpeningWrite = answer_write(&send, answer_code(service, &result), self.now());
            self.store.commit(answered.into()).await?;
            if last || !matches!(result, Err(CallError::TokenRefused(_))) {
                return Ok(result);
            }
        }
        Err(Error::Contended)
    }
}
