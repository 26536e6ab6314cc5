//! The address guard: where webhooks may be sent. Merchants choose the URL, so without the guard they could make the
//! server call machines that only it can reach (server-side request forgery).
//!
//! A URL is checked when it is saved and again for every connection, since a name may resolve to other addresses later.
//! The sender connects only to the addresses that were checked. The guard itself sends nothing but DNS queries.

use std::{
    collections::HashMap,
    fmt, io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use domain::rules::changes_direction;
use ipnet::IpNet;
use tokio::sync::Semaphore;
use url::{Host, Url};

use crate::{
    networks::{NotPublic, not_public},
    provider::BoxFuture,
};

/// Servers and proxies reject longer URLs.
const URL_BYTES_MOST: usize = 2_048;
/// How long resolving a name may take; less than a connection may take, so that the error names DNS and not the
/// receiver.
const RESOLVE_TIME_MOST: Duration = Duration::from_secs(4);
/// The most look-ups at once, in all and per host. Each occupies a thread until the operating system gives up on it,
/// even when we have stopped waiting.
const LOOKUPS_MOST: usize = 64;
const LOOKUPS_PER_HOST: usize = 2;

/// Resolves a host's name to addresses. Only tests have an implementation of their own.
pub trait Resolve: Send + Sync {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>>;
}

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
    #[error("{host} means the server itself; webhooks go to public addresses only")]
    LocalName { host: String },
    #[error(transparent)]
    Address(NotAllowed),
    #[error("the name {host} cannot be resolved: {reason}")]
    Unresolved { host: String, reason: String },
}

/// An address that webhooks may not be sent to, and the name that resolves to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotAllowed {
    name: Option<String>,
    address: IpAddr,
    found: NotPublic,
}

impl std::error::Error for NotAllowed {}

/// "shop.example points to 10.0.0.7, which is a private address; webhooks go to public addresses only".
impl fmt::Display for NotAllowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let which = if self.name.is_some() { ", which" } else { "" };
        if let Some(name) = &self.name {
            write!(f, "{name} points to ")?;
        }
        write!(f, "{}", self.address)?;
        match self.found.stands_for {
            Some(inside) => write!(f, "{which} stands for {inside}, which is {}", self.found.kind)?,
            None => write!(f, "{which} is {}", self.found.kind)?,
        }
        f.write_str("; webhooks go to public addresses only")
    }
}

/// Checks URLs, names and addresses.
#[derive(Clone)]
pub struct AddressGuard {
    allowed: Arc<[IpNet]>,
    loopback_allowed: bool,
    resolver: Arc<dyn Resolve>,
}

impl AddressGuard {
    /// Allows public addresses, addresses in an `allowed` network, and loopback addresses if `loopback_allowed`.
    pub fn new(allowed: Vec<IpNet>, loopback_allowed: bool) -> AddressGuard {
        AddressGuard { allowed: allowed.into(), loopback_allowed, resolver: Arc::new(SystemResolver::default()) }
    }

    pub fn with_resolver(self, resolver: Arc<dyn Resolve>) -> AddressGuard {
        AddressGuard { resolver, ..self }
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
        self.check(None, address)
    }

    /// The addresses of `host`. If one of them is blocked, the whole name is: the next connection could use that
    /// address.
    pub async fn addresses(&self, host: &str) -> Result<Vec<IpAddr>, BlockedAddress> {
        let unresolved = |reason: &str| BlockedAddress::Unresolved { host: host.to_owned(), reason: reason.to_owned() };
        let addresses = tokio::time::timeout(RESOLVE_TIME_MOST, self.resolver.resolve(host))
            .await
            .map_err(|_| unresolved("no answer came in time"))?
            .map_err(|error| unresolved(&error.to_string()))?;
        if addresses.is_empty() {
            return Err(unresolved("it has no address"));
        }
        for address in &addresses {
            self.check(Some(host), *address)?;
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

    fn check(&self, name: Option<&str>, address: IpAddr) -> Result<(), BlockedAddress> {
        match not_public(address) {
            Some(found) if !self.allows(address) => {
                Err(BlockedAddress::Address(NotAllowed { name: name.map(str::to_owned), address, found }))
            }
            _ => Ok(()),
        }
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

/// Resolves names with the operating system's resolver, as other programs on the machine do.
struct SystemResolver {
    lookups: Arc<Semaphore>,
    of_host: Mutex<HashMap<String, Weak<Semaphore>>>,
}

impl Default for SystemResolver {
    fn default() -> SystemResolver {
        SystemResolver { lookups: Arc::new(Semaphore::new(LOOKUPS_MOST)), of_host: Mutex::default() }
    }
}

impl SystemResolver {
    /// The permits of one host: a name whose DNS servers do not answer occupies a few threads and leaves the others to
    /// other names.
    fn permits_of(&self, host: &str) -> Arc<Semaphore> {
        let mut of_host = self.of_host.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(permits) = of_host.get(host).and_then(Weak::upgrade) {
            return permits;
        }
        of_host.retain(|_, permits| permits.strong_count() > 0);
        let permits = Arc::new(Semaphore::new(LOOKUPS_PER_HOST));
        of_host.insert(host.to_owned(), Arc::downgrade(&permits));
        permits
    }
}

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let host_permit = self.permits_of(host).acquire_owned().await.map_err(io::Error::other)?;
            let permit = Arc::clone(&self.lookups).acquire_owned().await.map_err(io::Error::other)?;
            let host = host.to_owned();
            // A task of its own holds the permits for as long as the look-up occupies its thread, even when the caller
            // has stopped waiting.
            let lookup = tokio::spawn(async move {
                let _permits = (host_permit, permit);
                tokio::net::lookup_host((host, 0)).await.map(|found| found.map(|address| address.ip()).collect())
            });
            lookup.await.map_err(io::Error::other)?
        })
    }
}

#[cfg(test)]
mod tests;
