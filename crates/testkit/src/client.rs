//! The HTTP client of tests.

use reqwest::{Client, ClientBuilder};

/// A client of a server on this machine, without TLS. It trusts no certificate, since reading those of the machine takes longer
/// than the requests of most tests.
pub fn plain_client() -> ClientBuilder {
    Client::builder().no_proxy().tls_certs_only([])
}
