//! Sends webhooks to receivers that may be slow, broken or hostile. Every attempt ends in an [`AttemptOutcome`] within
//! the time limits.
//!
//! The sender connects only to addresses that the guard has allowed. It uses no proxy and follows no redirect.

use std::{
    error::Error,
    io,
    net::SocketAddr,
    time::{Duration, Instant},
};

use domain::{
    delivery::{ANSWER_READ_BYTES_MOST, AttemptOutcome, Failure, FailureClass, kept_answer},
    id::ProjectId,
};
use reqwest::{
    Certificate, Client, RequestBuilder, Response,
    dns::{Addrs, Name, Resolving},
    header::CONTENT_TYPE,
    redirect::Policy,
};

use crate::guard::{AddressGuard, BlockedAddress};

pub const USER_AGENT: &str = concat!("Lunas/", env!("CARGO_PKG_VERSION"));
/// Webhooks sent shortly after one another share a connection. Some receivers close idle connections after five
/// seconds, so we stop using them earlier.
const IDLE_TIME_MOST: Duration = Duration::from_secs(3);
/// No error has that many causes; the limit ends a loop if an error were its own cause.
const CAUSES_MOST: usize = 16;

/// How long a receiver may take.
#[derive(Clone, Copy, Debug)]
pub struct SendLimits {
    /// From the DNS look-up to a connection with TLS.
    pub connect: Duration,
    /// From the start to the last byte of the answer.
    pub total: Duration,
}

impl Default for SendLimits {
    fn default() -> SendLimits {
        SendLimits { connect: Duration::from_secs(5), total: Duration::from_secs(15) }
    }
}

/// What to send, and where to.
pub struct Webhook<'a> {
    /// The project that has named the URL; none where a person has on the command line.
    pub project: Option<ProjectId>,
    pub url: &'a str,
    pub https_only: bool,
    /// The name of the header that carries the signature.
    pub signature_header: &'a str,
    pub signature: &'a str,
    /// JSON, byte for byte as it was signed.
    pub body: Vec<u8>,
}

/// The HTTP client could not be set up on this machine.
#[derive(Debug, thiserror::Error)]
#[error("webhooks cannot be sent from here: {0}")]
pub struct NoSender(String);

/// The HTTP client for webhooks.
#[derive(Clone)]
pub struct WebhookSender {
    guard: AddressGuard,
    limits: SendLimits,
    client: Client,
}

impl WebhookSender {
    /// Receivers' certificates are checked against those that the machine trusts; without any, this fails.
    pub fn new(guard: AddressGuard, limits: SendLimits) -> Result<WebhookSender, NoSender> {
        WebhookSender::trusting(Vec::new(), guard, limits)
    }

    fn trusting(extra: Vec<Certificate>, guard: AddressGuard, limits: SendLimits) -> Result<WebhookSender, NoSender> {
        let client = Client::builder()
            .tls_certs_merge(extra)
            .user_agent(USER_AGENT)
            .dns_resolver(GuardedResolver(guard.clone()))
            .no_proxy()
            .redirect(Policy::none())
            .referer(false)
            .no_gzip()
            .no_brotli()
            .no_zstd()
            .no_deflate()
            .connect_timeout(limits.connect)
            .timeout(limits.total)
            .pool_idle_timeout(IDLE_TIME_MOST)
            .build()
            .map_err(|error| NoSender(root_cause(&error)))?;
        Ok(WebhookSender { guard, limits, client })
    }

    /// Makes one attempt. The answer is read to its end or to the limit; an answer that is longer counts as complete.
    pub async fn send(&self, webhook: Webhook<'_>) -> AttemptOutcome {
        let (started, project) = (Instant::now(), webhook.project);
        let request = match self.request(webhook) {
            Ok(request) => request,
            Err(failure) => return AttemptOutcome::unanswered(started.elapsed(), failure),
        };
        // The HTTP client calls the resolver within this task.
        let mut response = match LOOKS_UP_FOR.scope(project, request.send()).await {
            Ok(response) => response,
            Err(error) => return AttemptOutcome::unanswered(started.elapsed(), self.failure(error)),
        };
        let status = response.status().as_u16();
        let mut answer = Vec::new();
        let ended = read_answer(&mut response, &mut answer).await;
        let answer = kept_answer(&answer);
        match ended {
            Ok(()) => AttemptOutcome::of_answer(started.elapsed(), status, answer),
            Err(error) => AttemptOutcome::cut_short(started.elapsed(), status, answer, self.failure(error)),
        }
    }

    /// Checks the URL here, since the HTTP client calls its resolver for names only and never for addresses.
    fn request(&self, webhook: Webhook<'_>) -> Result<RequestBuilder, Failure> {
        let url = self.guard.check_url(webhook.url, webhook.https_only).map_err(|reason| blocked(&reason))?;
        Ok(self
            .client
            .post(url)
            .header(CONTENT_TYPE, "application/json")
            .header(webhook.signature_header, webhook.signature)
            .body(webhook.body))
    }

    fn failure(&self, error: reqwest::Error) -> Failure {
        // A merchant's URL may contain a secret of theirs.
        let error = error.without_url();
        if let Some(reason) = causes(&error).find_map(|cause| cause.downcast_ref::<BlockedAddress>()) {
            return blocked(reason);
        }
        let class = class_of(&error);
        let detail = match (error.is_timeout(), class) {
            (true, FailureClass::Connect) => format!("no connection within {:?}", self.limits.connect),
            (true, _) => format!("no complete answer within {:?}", self.limits.total),
            (false, _) => root_cause(&error),
        };
        Failure::new(class, &detail)
    }
}

/// Reads until the answer ends or the limit is reached. On an error, `answer` keeps what was read so far.
async fn read_answer(response: &mut Response, answer: &mut Vec<u8>) -> Result<(), reqwest::Error> {
    while answer.len() < ANSWER_READ_BYTES_MOST {
        let Some(chunk) = response.chunk().await? else { break };
        let wanted = chunk.len().min(ANSWER_READ_BYTES_MOST - answer.len());
        answer.extend_from_slice(&chunk[..wanted]);
    }
    Ok(())
}

fn blocked(reason: &BlockedAddress) -> Failure {
    let class = match reason {
        BlockedAddress::Unresolved { .. } => FailureClass::Dns,
        _ => FailureClass::BlockedAddress,
    };
    Failure::new(class, &reason.to_string())
}

fn class_of(error: &reqwest::Error) -> FailureClass {
    if error.is_connect() {
        return if is_tls(error) { FailureClass::Tls } else { FailureClass::Connect };
    }
    if error.is_timeout() {
        return FailureClass::Timeout;
    }
    let protocol = causes(error).filter_map(|cause| cause.downcast_ref::<hyper::Error>()).last();
    let transport = causes(error).find_map(|cause| cause.downcast_ref::<io::Error>()).map(io::Error::kind);
    match (protocol, transport) {
        // The client reports a body with broken framing this way.
        (_, Some(io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData)) => FailureClass::NotHttp,
        (_, Some(_)) => FailureClass::Closed,
        (Some(protocol), None) if protocol.is_incomplete_message() || protocol.is_canceled() => FailureClass::Closed,
        // The answer cannot be parsed, or it came before the request, as from servers of other protocols.
        (Some(_), None) => FailureClass::NotHttp,
        (None, None) => FailureClass::Other,
    }
}

/// Whether the receiver was reached and the TLS handshake failed: the client wraps errors of that stage once more.
fn is_tls(error: &reqwest::Error) -> bool {
    causes(error).filter(|cause| cause.is::<io::Error>()).count() > 1
}

/// An error and its causes, outermost first. `source` of an I/O error skips the error that it wraps, so `get_ref` is
/// used.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    let inner = |outer: &&'a (dyn Error + 'static)| {
        let outer: &'a (dyn Error + 'static) = *outer;
        match outer.downcast_ref::<io::Error>() {
            Some(outer) => outer.get_ref().map(|inner| inner as &(dyn Error + 'static)),
            None => outer.source(),
        }
    };
    std::iter::successors(Some(error), inner).take(CAUSES_MOST)
}

/// The innermost cause; the errors around it only say that something failed.
pub(crate) fn root_cause(error: &reqwest::Error) -> String {
    causes(error).last().map_or_else(|| error.to_string(), ToString::to_string)
}

tokio::task_local! {
    /// The project whose webhook this task sends: the HTTP client tells its resolver nothing but the name.
    static LOOKS_UP_FOR: Option<ProjectId>;
}

/// Gives the HTTP client only the addresses that the guard has allowed.
struct GuardedResolver(AddressGuard);

impl reqwest::dns::Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = self.0.clone().of_project(LOOKS_UP_FOR.try_get().unwrap_or_default());
        Box::pin(async move {
            let addresses = guard.addresses(name.as_str()).await?;
            // The client replaces port 0 by the URL's port.
            let addresses: Addrs = Box::new(addresses.into_iter().map(|address| SocketAddr::new(address, 0)));
            Ok(addresses)
        })
    }
}

#[cfg(test)]
mod tests;
