//! What sending webhooks needs.

use gateway::WebhookSender;

/// What sending webhooks needs: the HTTP client, the signature header, the limit, and where the pages are.
#[derive(Clone)]
pub struct Courier {
    pub sender: WebhookSender,
    /// The name of the header that carries the signature.
    pub signature_header: String,
    /// The most concurrent attempts of one project, while its receiver answers quickly.
    pub in_flight_per_project: usize,
    /// Where people reach the pages that a payment's JSON points to.
    pub pages_url: String,
}
