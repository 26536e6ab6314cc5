//! Which server a command calls and with which API key: the given ones, or those of the `lunas dev` whose data directory is used.
//!
//! No message contains a key or a secret.

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
    demo_credentials::{self, Credentials},
    error::CliError,
    options::{DEFAULT_LISTEN, GlobalOptions, shown},
    private_files,
};

/// The file in which `lunas dev` saves the URL that it listens on.
const ADDRESS_FILE: &str = "dev.url";

/// Options of the commands that are clients of a running server.
#[derive(Args)]
pub(crate) struct RemoteOptions {
    /// The URL of the running server to call. Without it, that of `lunas dev`.
    #[arg(long, env = "LUNAS_URL", value_name = "BASE")]
    url: Option<String>,
    /// The API key to call it with. Without it, that of the demo project of `lunas dev`. Use the variable to keep the key out of
    /// the process list.
    #[arg(long, env = "LUNAS_API_KEY", value_name = "KEY", hide_env_values = true)]
    key: Option<String>,
}

/// A server and an API key for it.
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
        let demo = demo_credentials::read_in(&data)?;
        let text = given(&self.key).or_else(|| demo.as_ref().map(|demo| demo.api_key.clone())).ok_or_else(|| {
            let place = demo_credentials::path_in(&data).display().to_string();
            let what_to_do = "give one with --key or LUNAS_API_KEY, or start `lunas dev`";
            CliError::new(format!("no API key is given, and there is none in {place}; {what_to_do}"))
        })?;
        let key = KeySecret::recognise(text.trim()).ok_or_else(|| {
            let [sandbox, production] = [Environment::Sandbox, Environment::Production].map(key_prefix);
            let what = format!("the API key is malformed: keys begin with {sandbox} or {production}");
            CliError::new(format!("{what} and end with a checksum; copy it again"))
        })?;
        let demo = demo.filter(|demo| demo.api_key == key.reveal());
        Ok(Remote { url, key, data, demo })
    }
}

impl Remote {
    pub(crate) fn key(&self) -> &KeySecret {
        &self.key
    }

    /// The demo's credentials, if the key is that of the demo project.
    pub(crate) fn demo(&self) -> Option<&Credentials> {
        self.demo.as_ref()
    }

    /// The data directory of `lunas dev`.
    pub(crate) fn data(&self) -> &Path {
        &self.data
    }

    pub(crate) fn is_live(&self) -> bool {
        self.key.reveal().starts_with(key_prefix(Environment::Production))
    }

    /// A client for the server's current URL: `lunas dev` may listen on another port after a restart.
    pub(crate) fn client(&self) -> Result<ApiClient, CliError> {
        let url = match &self.url {
            Some(url) => Some(url.clone()),
            None => read_address(&self.data)?,
        };
        let url = url.unwrap_or_else(|| format!("http://{DEFAULT_LISTEN}"));
        ApiClient::new(url, self.key.reveal())
    }
}

/// Saves where a server listens, so that other commands find it. Callers must hold the lock of the data directory.
pub(crate) fn save_address(data: &Path, listen: SocketAddr) -> Result<(), CliError> {
    let path = data.join(ADDRESS_FILE);
    let text = format!("http://{}\n", reachable(listen));
    private_files::replace_private(&path, &text).map_err(|error| CliError::file("write", &path, &error))
}

/// The saved URL. A malformed one counts as none, because there is a default.
pub(crate) fn read_address(data: &Path) -> Result<Option<String>, CliError> {
    let path = data.join(ADDRESS_FILE);
    let text = private_files::read_if_present(&path).map_err(|error| CliError::file("read", &path, &error))?;
    Ok(text.and_then(|text| base_url(text.trim(), Scheme::HttpOrHttps).ok()))
}

/// A server that listens on all addresses is reached at loopback.
pub(crate) fn reachable(listen: SocketAddr) -> SocketAddr {
    let address = match listen.ip() {
        IpAddr::V4(address) if address.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(address) if address.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        address => address,
    };
    SocketAddr::new(address, listen.port())
}

fn address(text: &str) -> Result<String, CliError> {
    base_url(text, Scheme::HttpOrHttps)
        .map_err(|rule| CliError::new(format!("the server's URL (--url) {rule}; it is `{}`", shown(text))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saved_address_is_one_that_a_client_can_use() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(read_address(directory.path()).unwrap(), None);
        for (listen, url) in [
            ("127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("0.0.0.0:9000", "http://127.0.0.1:9000"),
            ("[::]:9000", "http://[::1]:9000"),
            ("192.0.2.7:80", "http://192.0.2.7"),
        ] {
            save_address(directory.path(), listen.parse().unwrap()).unwrap();
            assert_eq!(read_address(directory.path()).unwrap().as_deref(), Some(url), "{listen}");
        }
        std::fs::write(directory.path().join(ADDRESS_FILE), "junk").unwrap();
        assert_eq!(read_address(directory.path()).unwrap(), None);
    }
}
