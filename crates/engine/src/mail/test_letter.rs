//! A letter that an operator sends to see whether letters arrive. It is sent at once, and neither queued nor kept.

use domain::{language::Language, letter_queue::SendOutcome, time::Timestamp};
use gateway::{Post, StepReport};
use letters::{Face, Letter, Test};
use url::Url;

use super::Mail;

impl Mail {
    /// Sends it; `report` is told of each step.
    pub async fn send_test(
        &self,
        to: &str,
        language: Language,
        at: Timestamp,
        report: &mut impl FnMut(StepReport),
    ) -> SendOutcome {
        let written =
            letters::write(&Letter::Test(Test { sent_at: at }), language, &Face { shop: None, host: self.host() });
        let post = Post {
            id: format!("test-{}", at.as_millis()),
            to: to.to_owned(),
            subject: written.subject,
            plain: written.plain,
            html: written.html,
            picture: None,
            unsubscribe: None,
        };
        let mut session = match self.mailer.open(report).await {
            Ok(session) => session,
            Err(outcome) => return outcome,
        };
        let outcome = session.send(post, report).await;
        session.close().await;
        outcome
    }

    fn host(&self) -> String {
        host_of(&self.pages_url)
    }
}

/// The host of the pages that letters point to.
pub(super) fn host_of(pages_url: &str) -> String {
    let url = Url::parse(pages_url).ok();
    url.and_then(|url| url.host_str().map(ToOwned::to_owned)).unwrap_or_default()
}
