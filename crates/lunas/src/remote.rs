//! Which server a command talks to, and with which key: the ones it is given, or those of the `lunas dev` whose data are here.
//!
//! Keys and secrets never end in a message.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::{Path, PathBuf},
};

use clap::Args;
use domain::{
    api_key::{KeySecret, key_prefix},
    project::Environment,
};

use engine::addresses::{Scheme, base_url};

use crate::{
    api_client::ApiClient,
    database::Database,
    demo::{self, Credentials},
    error::CliError,
    files,
    options::{DEFAULT_LISTEN, GlobalOptions, shown},
};

/// Where `lunas dev` notes the address that it listens on.
const ADDRESS_FILE: &str = "dev.url";

/// Options of the commands that are clients of a running server.
#[derive(Args)]
pub(crate) struct RemoteOptions {
    /// The server's address. Without it, that is where `lunas dev` listens.
    #[arg(long, env = "LUNAS_URL", value_name = "BASE")]
    url: Option<String>,
    /// An API key of the project. Without it, that is the demo project's key, which `lunas dev` keeps. The variable keeps a
    /// key out of the list of processes.
    #[arg(long, env = "LUNAS_API_KEY", value_name = "KEY", hide_env_values = true)]
    key: Option<String>,
}

/// A server and a key to it.
pub(crate) struct Remote {
    url: Option<String>,
    key: KeySecret,
    data: PathBuf,
    demo: Option<Credentials>,
}

impl RemoteOptions {
    pub(crate) fn find(&self, global: &GlobalOptions) -> Result<Remote, CliError> {
        let given = |value: &Option<String>| value.as_deref().filter(|text| !text.is_empty()).map(str::to_owned);
        let url = given(&self.url).map(|text| address(&text)).transpose()?;
        let data = Database::of(global)?.home();
        let demo = demo::kept(&data)?;
        let text = given(&self.key).or_else(|| demo.as_ref().map(|demo| demo.api_key.clone())).ok_or_else(|| {
            let place = demo::place(&data).display().to_string();
            let what_to_do = "give one with --key or LUNAS_API_KEY, or start `lunas dev`";
            CliError::new(format!("there is no API key, and no {place} that has one; {what_to_do}"))
        })?;
        let key = KeySecret::recognise(text.trim()).ok_or_else(|| {
            let [sandbox, production] = [Environment::Sandbox, Environment::Production].map(key_prefix);
            let what = format!("the API key is malformed: it begins with {sandbox} or {production}");
            CliError::new(format!("{what}, and its last characters check the others; copy it again"))
        })?;
        let demo = demo.filter(|demo| demo.api_key == key.reveal());
        Ok(Remote { url, key, data, demo })
    }
}

impl Remote {
    pub(crate) fn key(&self) -> &KeySecret {
        &self.key
    }

    /// What `lunas dev` has kept, where the key is the one that it made.
    pub(crate) fn demo(&self) -> Option<&Credentials> {
        self.demo.as_ref()
    }

    /// The directory in which `lunas dev` keeps its things.
    pub(crate) fn data(&self) -> &Path {
        &self.data
    }

    pub(crate) fn is_live(&self) -> bool {
        self.key.reveal().starts_with(key_prefix(Environment::Production))
    }

    /// A client of the server as it can be reached now: a `lunas dev` that was started again may listen elsewhere.
    pub(crate) fn client(&self) -> Result<ApiClient, CliError> {
        let noted = match &self.url {
            Some(url) => Some(url.clone()),
            None => read_address(&self.data)?,
        };
        let url = noted.unwrap_or_else(|| format!("http://{DEFAULT_LISTEN}"));
        ApiClient::new(url, self.key.reveal())
    }
}

/// Notes where a server listens, so that commands beside it find it. Callers take turns.
pub(crate) fn keep_address(data: &Path, listen: SocketAddr) -> Result<(), CliError> {
    let path = data.join(ADDRESS_FILE);
    let text = format!("http://{}\n", reachable(listen));
    files::replace_private(&path, &text).map_err(|error| CliError::file("write", &path, &error))
}

/// The noted address. One that cannot be read counts as none, since it is only a convenience.
fn read_address(data: &Path) -> Result<Option<String>, CliError> {
    let path = data.join(ADDRESS_FILE);
    let text = files::read_if_present(&path).map_err(|error| CliError::file("read", &path, &error))?;
    Ok(text.and_then(|text| base_url(text.trim(), Scheme::HttpOrHttps).ok()))
}

/// Who listens on all addresses is reached at loopback.
fn reachable(listen: SocketAddr) -> SocketAddr {
    let address = match listen.ip() {
        IpAddr::V4(address) if address.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(address) if address.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        address => address,
    };
    SocketAddr::new(address, listen.port())
}

fn address(text: &str) -> Result<String, CliError> {
    base_url(text, Scheme::HttpOrHttps)
        .map_err(|rule| CliError::new(format!("the server's address (--url) {rule}; it is `{}`", shown(text))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_noted_address_is_one_that_a_client_can_use() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(read_address(directory.path()).unwrap(), None);
        for (listen, url) in [
            ("127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("0.0.0.0:9000", "http://127.0.0.1:9000"),
            ("[::]:9000", "http://[::1]:9000"),
            ("192.0.2.7:80", "http://192.0.2.7"),
        ] {
            keep_address(directory.path(), listen.parse().unwrap()).unwrap();
            assert_eq!(read_address(directory.path()).unwrap().as_deref(), Some(url), "{listen}");
        }
        std::fs::write(directory.path().join(ADDRESS_FILE), "junk").unwrap();
        assert_eq!(read_address(directory.path()).unwrap(), None);
    }
}
