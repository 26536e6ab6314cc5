//! Options that servers of several tests are started with.

use testkit::Options;

/// The public address of the service.
pub(crate) fn base_url(url: &str) -> Options {
    Options { base_url: Some(url.to_owned()), ..Options::default() }
}

pub(crate) fn rate_limit(rate_limit_per_second: u32) -> Options {
    Options { rate_limit_per_second, ..Options::default() }
}

/// Clients come through a proxy on this machine, whose `X-Forwarded-For` is trusted.
pub(crate) fn trusted_proxy() -> Options {
    Options { trusted_proxies: vec!["127.0.0.0/8".parse().unwrap()], ..Options::default() }
}

pub(crate) fn trusted_proxy_and_rate_limit(rate_limit_per_second: u32) -> Options {
    Options { rate_limit_per_second, ..trusted_proxy() }
}

/// A server without documentation.
pub(crate) fn without_docs() -> Options {
    Options { without_docs: true, ..Options::default() }
}

/// Every user needs a second factor.
pub(crate) fn factor_required() -> Options {
    Options { factor_required: true, ..Options::default() }
}
