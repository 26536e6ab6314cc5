//! Where webhooks may go. Merchants choose the URL, so without this they could have the server call what only it can reach.
//!
//! A URL is judged when it is saved and again for every connection, as names change what they point to; a connection is made only
//! to the addresses that were judged. Nothing here sends anything but questions about names.

use std::{
    collections::HashMap,
    fmt, io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use ipnet::IpNet;
use tokio::sync::Semaphore;
use url::{Host, Url};

use crate::{
    networks::{NotPublic, not_public},
    provider::BoxFuture,
};

/// Longer URLs are refused by servers on the way.
const URL_BYTES_MOST: usize = 2_048;
/// How long a name may take to be resolved; less than a connection may take, so that the name is blamed and not the receiver.
const RESOLVE_TIME_MOST: Duration = Duration::from_secs(4);
/// Each look-up holds a thread until the system gives up on it, however soon we do. These are all that may be held.
const LOOKUPS_MOST: usize = 64;
const LOOKUPS_PER_HOST: usize = 2;

/// Turns a host's name into addresses. Only tests bring their own.
pub trait Resolve: Send + Sync {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>>;
}

/// Why a webhook may not go somewhere, in words for whoever chose the URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
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

/// An address that webhooks may not go to, and the name that points to it.
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

/// Judges URLs, names and addresses.
#[derive(Clone)]
pub struct AddressGuard {
    allowed: Arc<[IpNet]>,
    loopback_allowed: bool,
    resolver: Arc<dyn Resolve>,
}

impl AddressGuard {
    /// Lets through what is public, what is in an `allowed` network, and loopback if that is allowed.
    pub fn new(allowed: Vec<IpNet>, loopback_allowed: bool) -> AddressGuard {
        AddressGuard { allowed: allowed.into(), loopback_allowed, resolver: Arc::new(SystemResolver::default()) }
    }

    pub fn with_resolver(self, resolver: Arc<dyn Resolve>) -> AddressGuard {
        AddressGuard { resolver, ..self }
    }

    /// Judges all that can be judged at the moment: the URL, and what its name points to now. This is the question to ask before a
    /// URL is saved.
    pub async fn check_target(&self, text: &str, https_only: bool) -> Result<Url, Refusal> {
        let url = self.check_url(text, https_only)?;
        if let Some(Host::Domain(name)) = url.host() {
            self.addresses(name).await?;
        }
        Ok(url)
    }

    /// Judges a URL and, when its host is an address, that. What a name points to is for [`AddressGuard::addresses`] to say.
    pub fn check_url(&self, text: &str, https_only: bool) -> Result<Url, Refusal> {
        let url = read_url(text)?;
        if https_only && url.scheme() != "https" {
            return Err(Refusal::NotHttps);
        }
        match url.host() {
            Some(Host::Domain(name)) => self.check_name(name)?,
            Some(Host::Ipv4(address)) => self.check_address(address.into())?,
            Some(Host::Ipv6(address)) => self.check_address(address.into())?,
            None => return Err(Refusal::NotAbsolute),
        }
        Ok(url)
    }

    /// Judges one address.
    pub fn check_address(&self, address: IpAddr) -> Result<(), Refusal> {
        self.judge(None, address)
    }

    /// What `host` points to. One address that webhooks may not go to spoils the others: the next connection could use that one.
    pub async fn addresses(&self, host: &str) -> Result<Vec<IpAddr>, Refusal> {
        let unresolved = |reason: &str| Refusal::Unresolved { host: host.to_owned(), reason: reason.to_owned() };
        let addresses = tokio::time::timeout(RESOLVE_TIME_MOST, self.resolver.resolve(host))
            .await
            .map_err(|_| unresolved("no answer came in time"))?
            .map_err(|error| unresolved(&error.to_string()))?;
        if addresses.is_empty() {
            return Err(unresolved("it has no address"));
        }
        for address in &addresses {
            self.judge(Some(host), *address)?;
        }
        Ok(addresses)
    }

    fn check_name(&self, name: &str) -> Result<(), Refusal> {
        let bare = name.strip_suffix('.').unwrap_or(name);
        let local = bare == "localhost" || bare.ends_with(".localhost");
        let loopback = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
        if local && !loopback.into_iter().any(|address| self.allows(address)) {
            return Err(Refusal::LocalName { host: name.to_owned() });
        }
        Ok(())
    }

    fn judge(&self, name: Option<&str>, address: IpAddr) -> Result<(), Refusal> {
        match not_public(address) {
            Some(found) if !self.allows(address) => {
                Err(Refusal::Address(NotAllowed { name: name.map(str::to_owned), address, found }))
            }
            _ => Ok(()),
        }
    }

    /// Whether the installation has opened this address. The system connects to the IPv4 address inside a mapped one, so that is
    /// the same address; other forms that carry one lead through somebody's gateway and have to be named themselves.
    fn allows(&self, address: IpAddr) -> bool {
        let plain = address.to_canonical();
        (self.loopback_allowed && plain.is_loopback())
            || self.allowed.iter().any(|network| network.contains(&plain) || network.contains(&address))
    }
}

/// Reads an absolute web address that every program reads in the same way.
fn read_url(text: &str) -> Result<Url, Refusal> {
    if text.len() > URL_BYTES_MOST {
        return Err(Refusal::TooLong);
    }
    // The parser would drop some of these and turn others into slashes.
    if text.chars().any(|character| character.is_control() || character.is_whitespace() || character == '\\') {
        return Err(Refusal::Ambiguous);
    }
    let (scheme, rest) = text.split_once("://").ok_or(Refusal::NotAbsolute)?;
    let known = ["https", "http"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
    // The parser would skip further slashes to find a host.
    if !known || rest.starts_with('/') {
        return Err(Refusal::NotAbsolute);
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    if authority.contains('@') {
        return Err(Refusal::Credentials);
    }
    let url = Url::parse(text)?;
    if url.fragment().is_some() {
        return Err(Refusal::Fragment);
    }
    Ok(url)
}

/// Asks the system, as every other program on the machine does.
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
    /// The turns of one host: a name whose servers are silent holds a few threads, and leaves the others to other names.
    fn turns_of(&self, host: &str) -> Arc<Semaphore> {
        let mut of_host = self.of_host.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(turns) = of_host.get(host).and_then(Weak::upgrade) {
            return turns;
        }
        of_host.retain(|_, turns| turns.strong_count() > 0);
        let turns = Arc::new(Semaphore::new(LOOKUPS_PER_HOST));
        of_host.insert(host.to_owned(), Arc::downgrade(&turns));
        turns
    }
}

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let turn = self.turns_of(host).acquire_owned().await.map_err(io::Error::other)?;
            let permit = Arc::clone(&self.lookups).acquire_owned().await.map_err(io::Error::other)?;
            let host = host.to_owned();
            // A task of its own keeps the permits for as long as the look-up has its thread, even when nobody waits any more.
            let lookup = tokio::spawn(async move {
                let _permits = (turn, permit);
                tokio::net::lookup_host((host, 0)).await.map(|found| found.map(|address| address.ip()).collect())
            });
            lookup.await.map_err(io::Error::other)?
        })
    }
}

#[cfg(test)]
mod tests;
