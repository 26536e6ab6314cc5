//! The address guard: where webhooks may be sent. Merchants choose the URL, so without the guard they could make the
//! server call machines that only it can reach (server-side request forgery).
//!
//! A URL is checked when it is saved and again for every connection, since a name may resolve to other addresses later.
//! The sender connects only to the addresses that were checked. The guard itself sends nothing but DNS queries.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    sync::Arc,
};

use domain::id::ProjectId;
use domain::rules::changes_direction;
use ipnet::IpNet;
use url::{Host, Url};

use crate::{
    lookups::{Lookups, RESOLVE_TIME_MOST, Resolve},
    networks::{NotPublic, not_public},
    ports,
};

/// Servers and proxies reject longer URLs.
const URL_BYTES_MOST: usize = 2_048;
/// Why a webhook may not be sent to a URL, in words for the merchant who chose it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlockedAddress {
    #[error("the URL is longer than {URL_BYTES_MOST} bytes")]
    TooLong,
    #[error("the URL contains white space, a control character or a backslash, which programs read differently")]
    Ambiguous,
    #[error("the URL must be absolute and start with https:// or http://")]
    NotAbsolute,
    #[error("the URL must start with https://")]
    NotHttps,
    #[error("the URL cannot be read: {0}")]
    Unreadable(#[from] url::ParseError),
    #[error("the URL must not contain a user name or a password")]
    Credentials,
    #[error("the URL must not contain a fragment (#…), as it would not be sent")]
    Fragment,
    #[error("webhooks may not be sent to port {0}, on which no web server listens")]
    Port(u16),
    #[error("{host} means the server itself; webhooks go to public addresses only")]
    LocalName { host: String },
    #[error(transparent)]
    Address(NotAllowed),
    /// The name does not exist, its DNS servers do not answer, or one of its addresses is blocked. These are not told
    /// apart: which names exist in the operator's network is a secret.
    #[error("the name {host} cannot be resolved to public addresses; webhooks go to public addresses only")]
    Unresolved { host: String },
}

/// An address in a URL that webhooks may not be sent to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotAllowed {
    address: IpAddr,
    found: NotPublic,
}

impl std::error::Error for NotAllowed {}

/// "10.0.0.7 is a private address; webhooks go to public addresses only".
impl fmt::Display for NotAllowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NotAllowed { address, found: NotPublic { kind, stands_for } } = self;
        match stands_for {
            Some(inside) => write!(f, "{address} stands for {inside}, which is {kind}")?,
            None => write!(f, "{address} is {kind}")?,
        }
        f.write_str("; webhooks go to public addresses only")
    }
}

/// Checks URLs, names and addresses.
#[derive(Clone)]
pub struct AddressGuard {
    allowed: Arc<[IpNet]>,
    loopback_allowed: bool,
    lookups: Arc<Lookups>,
    /// The project whose names are looked up.
    project: Option<ProjectId>,
}

impl AddressGuard {
    /// Allows public addresses, addresses in an `allowed` network, and loopback addresses if `loopback_allowed`.
    pub fn new(allowed: Vec<IpNet>, loopback_allowed: bool) -> AddressGuard {
        AddressGuard { allowed: allowed.into(), loopback_allowed, lookups: Arc::default(), project: None }
    }

    pub fn with_resolver(self, resolver: Arc<dyn Resolve>) -> AddressGuard {
        self.sharing(Arc::new(Lookups::with(resolver)))
    }

    /// The same guard, with look-ups that other guards use too.
    pub fn sharing(self, lookups: Arc<Lookups>) -> AddressGuard {
        AddressGuard { lookups, ..self }
    }

    /// The same guard, for names that a project has given: they are looked up within the project's share.
    pub fn of_project(self, project: Option<ProjectId>) -> AddressGuard {
        AddressGuard { project, ..self }
    }

    /// Checks the URL and the addresses that its name resolves to now. Call this before a URL is saved.
    pub async fn check_target(&self, text: &str, https_only: bool) -> Result<Url, BlockedAddress> {
        let url = self.check_url(text, https_only)?;
        if let Some(Host::Domain(name)) = url.host() {
            self.addresses(name).await?;
        }
        Ok(url)
    }

    /// Checks a URL without resolving its name. When the host is an address, that is checked too.
    pub fn check_url(&self, text: &str, https_only: bool) -> Result<Url, BlockedAddress> {
        let url = read_url(text)?;
        if https_only && url.scheme() != "https" {
            return Err(BlockedAddress::NotHttps);
        }
        if let Some(port) = url.port().filter(|port| ports::is_blocked(*port)) {
            return Err(BlockedAddress::Port(port));
        }
        match url.host() {
            Some(Host::Domain(name)) => self.check_name(name)?,
            Some(Host::Ipv4(address)) => self.check_address(address.into())?,
            Some(Host::Ipv6(address)) => self.check_address(address.into())?,
            None => return Err(BlockedAddress::NotAbsolute),
        }
        Ok(url)
    }

    /// Checks one address.
    pub fn check_address(&self, address: IpAddr) -> Result<(), BlockedAddress> {
        match self.blocked(address) {
            Some(found) => Err(BlockedAddress::Address(NotAllowed { address, found })),
            None => Ok(()),
        }
    }

    /// The addresses of `host`. If one of them is blocked, the whole name is: the next connection could use that
    /// address.
    pub async fn addresses(&self, host: &str) -> Result<Vec<IpAddr>, BlockedAddress> {
        let looked_up = tokio::time::timeout(RESOLVE_TIME_MOST, self.lookups.resolve(self.project, host)).await;
        let addresses = looked_up.ok().and_then(Result::ok).unwrap_or_default();
        if addresses.is_empty() || addresses.iter().any(|address| self.blocked(*address).is_some()) {
            return Err(BlockedAddress::Unresolved { host: host.to_owned() });
        }
        Ok(addresses)
    }

    fn check_name(&self, name: &str) -> Result<(), BlockedAddress> {
        let bare = name.strip_suffix('.').unwrap_or(name);
        let local = bare == "localhost" || bare.ends_with(".localhost");
        let loopback = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
        if local && !loopback.into_iter().any(|address| self.allows(address)) {
            return Err(BlockedAddress::LocalName { host: name.to_owned() });
        }
        Ok(())
    }

    /// Why webhooks may not be sent to an address; none where they may.
    fn blocked(&self, address: IpAddr) -> Option<NotPublic> {
        not_public(address).filter(|_| !self.allows(address))
    }

    /// Whether the operator has allowed this address. The operating system treats an IPv4-mapped address as the IPv4
    /// address inside it, so both are the same here. Other IPv6 forms that contain an IPv4 address go through a
    /// gateway, and must be allowed by their IPv6 network.
    fn allows(&self, address: IpAddr) -> bool {
        let plain = address.to_canonical();
        (self.loopback_allowed && plain.is_loopback())
            || self.allowed.iter().any(|network| network.contains(&plain) || network.contains(&address))
    }
}

/// Parses an absolute URL, and rejects forms that programs interpret differently.
fn read_url(text: &str) -> Result<Url, BlockedAddress> {
    if text.len() > URL_BYTES_MOST {
        return Err(BlockedAddress::TooLong);
    }
    // The parser would drop some of these characters and turn others into slashes.
    let ambiguous = |c: char| c.is_control() || c.is_whitespace() || c == '\\' || changes_direction(c);
    if text.contains(ambiguous) {
        return Err(BlockedAddress::Ambiguous);
    }
    let (scheme, rest) = text.split_once("://").ok_or(BlockedAddress::NotAbsolute)?;
    let known = ["https", "http"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
    // The parser would skip additional slashes to find a host.
    if !known || rest.starts_with('/') {
        return Err(BlockedAddress::NotAbsolute);
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    if authority.contains('@') {
        return Err(BlockedAddress::Credentials);
    }
    let url = Url::parse(text)?;
    if url.fragment().is_some() {
        return Err(BlockedAddress::Fragment);
    }
    Ok(url)
}

#[cfg(test)]
mod tests;
