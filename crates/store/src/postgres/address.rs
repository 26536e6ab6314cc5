//! The URL of a PostgreSQL database: parsing, defaults, and display without the password.

use std::{fmt, net::IpAddr, str::FromStr, time::Duration};

use tokio_postgres::{
    Config,
    config::{Host, SslMode, TargetSessionAttrs},
};

/// How long the server may take to accept a connection. Linux sends a packet that was lost again after a second.
const CONNECT_WITHIN: Duration = Duration::from_secs(2);
/// How long sent data may stay unacknowledged before a connection counts as lost.
const UNACKNOWLEDGED_MOST: Duration = Duration::from_secs(10);

/// The URL of a database. `Display` and `Debug` leave the password out.
#[derive(Clone)]
pub struct PostgresUrl {
    config: Config,
}

/// Why a URL cannot be used. The text does not quote the URL, which may contain a password.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UnusableUrl(String);

impl FromStr for PostgresUrl {
    type Err = UnusableUrl;

    fn from_str(url: &str) -> Result<PostgresUrl, UnusableUrl> {
        if url.matches('@').count() > 1 {
            // The parser would take the rest of a password for a host, and hosts are displayed.
            return Err(UnusableUrl("it has more than one `@`; write one within a password as %40".to_owned()));
        }
        let mut config: Config = url.parse().map_err(|error| UnusableUrl(why(&error)))?;
        if config.get_hosts().is_empty() {
            return Err(UnusableUrl("it names no host; write postgres://USER:PASSWORD@HOST/DATABASE".to_owned()));
        }
        if config.get_user().is_none_or(str::is_empty) {
            return Err(UnusableUrl("it names no user; write postgres://USER:PASSWORD@HOST/DATABASE".to_owned()));
        }
        if config.get_dbname().is_none_or(str::is_empty) {
            return Err(UnusableUrl("it names no database; write postgres://USER:PASSWORD@HOST/DATABASE".to_owned()));
        }
        if !names_ssl_mode(url) {
            // Connections to another machine must be encrypted, unless the operator turns that off.
            let mode = if is_all_here(&config) { SslMode::Disable } else { SslMode::Require };
            config.ssl_mode(mode);
        }
        // Of several hosts, use the one that accepts writes; after a failover that is another one.
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        config.connect_timeout(config.get_connect_timeout().copied().unwrap_or(CONNECT_WITHIN));
        config.tcp_user_timeout(UNACKNOWLEDGED_MOST);
        config.keepalives_idle(UNACKNOWLEDGED_MOST);
        if config.get_application_name().is_none() {
            config.application_name("lunas");
        }
        Ok(PostgresUrl { config })
    }
}

impl PostgresUrl {
    /// One configuration per host, in the order in which the URL names them.
    pub(super) fn by_host(&self) -> Vec<Config> {
        (0..self.config.get_hosts().len()).map(|index| self.only(index)).collect()
    }

    fn only(&self, index: usize) -> Config {
        let (all, mut one) = (&self.config, Config::new());
        match &all.get_hosts()[index] {
            Host::Tcp(name) => one.host(name),
            Host::Unix(path) => one.host_path(path),
        };
        all.get_hostaddrs().get(index).map(|address| one.hostaddr(*address));
        all.get_ports().get(index).or(all.get_ports().first()).map(|port| one.port(*port));
        all.get_user().map(|user| one.user(user));
        all.get_password().map(|password| one.password(password));
        all.get_dbname().map(|name| one.dbname(name));
        all.get_options().map(|options| one.options(options));
        all.get_application_name().map(|name| one.application_name(name));
        all.get_connect_timeout().map(|within| one.connect_timeout(*within));
        all.get_tcp_user_timeout().map(|within| one.tcp_user_timeout(*within));
        all.get_keepalives_interval().map(|interval| one.keepalives_interval(interval));
        all.get_keepalives_retries().map(|retries| one.keepalives_retries(retries));
        one.keepalives(all.get_keepalives()).keepalives_idle(all.get_keepalives_idle());
        one.ssl_mode(all.get_ssl_mode()).ssl_negotiation(all.get_ssl_negotiation());
        one.channel_binding(all.get_channel_binding()).target_session_attrs(all.get_target_session_attrs());
        one
    }

    /// The same URL, for connections that may also go to a server without writes.
    pub(super) fn reading_too(&self) -> PostgresUrl {
        let mut config = self.config.clone();
        config.target_session_attrs(TargetSessionAttrs::Any);
        PostgresUrl { config }
    }

    /// Whether every host is on this machine.
    pub fn is_here(&self) -> bool {
        is_all_here(&self.config)
    }

    pub(super) fn wants_tls(&self) -> bool {
        self.config.get_ssl_mode() != SslMode::Disable
    }
}

/// Whether the URL's query has the parameter `sslmode`. Elsewhere, such as in a password, that word has no meaning.
fn names_ssl_mode(url: &str) -> bool {
    // As the parser reads it: user and password end at the `@`, and may contain a `?`.
    let place = url.split_once('@').map_or(url, |(_, place)| place);
    let query = place.split_once('?').map_or("", |(_, query)| query);
    query.split('&').any(|parameter| parameter.split_once('=').is_some_and(|(name, _)| name == "sslmode"))
}

/// What the parser objects to, without quoting the URL.
fn why(error: &tokio_postgres::Error) -> String {
    let source = std::error::Error::source(error).map(ToString::to_string);
    source.unwrap_or_else(|| "it cannot be read".to_owned())
}

/// Whether every host is on this machine. `hostaddr` says where to connect to, whatever the host's name is.
fn is_all_here(config: &Config) -> bool {
    config.get_hosts().iter().all(is_here) && config.get_hostaddrs().iter().all(IpAddr::is_loopback)
}

fn is_here(host: &Host) -> bool {
    match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback()),
    }
}

impl fmt::Display for PostgresUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hosts = self.config.get_hosts().iter().enumerate().map(|(index, host)| {
            let ports = self.config.get_ports();
            let port = ports.get(index).or(ports.first()).copied().unwrap_or(5432);
            match host {
                Host::Tcp(name) => format!("{name}:{port}"),
                Host::Unix(path) => format!("{}:{port}", path.display()),
            }
        });
        let (user, database) =
            (self.config.get_user().unwrap_or_default(), self.config.get_dbname().unwrap_or_default());
        write!(f, "postgres://{user}@{}/{database}", hosts.collect::<Vec<_>>().join(","))
    }
}

impl fmt::Debug for PostgresUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_never_shows() {
        let url: PostgresUrl = "postgres://shop:quiet@db.example,10.0.0.2:6432/lunas".parse().unwrap();
        assert_eq!(url.to_string(), "postgres://shop@db.example:5432,10.0.0.2:6432/lunas");
        for url in [
            "postgres://shop:quiet@",
            "postgres://shop:quiet@h/d?other=1",
            "postgres://shop:quiet@h:quiet/d",
            "postgres://shop:very@quiet@h/d",
            "postgres://shop:very@quiet?quiet=1@h/d",
        ] {
            let error = url.parse::<PostgresUrl>().unwrap_err().to_string();
            assert!(!error.contains("shop") && !error.contains("quiet"), "{error}");
        }
    }

    #[test]
    fn each_host_is_tried_with_all_other_settings_of_the_url() {
        let url =
            "postgres://shop:quiet@10.0.0.1:5433,db.example/lunas?sslmode=disable&connect_timeout=7&options=-cx%3D1";
        let hosts = url.parse::<PostgresUrl>().unwrap().by_host();
        let one = |host: &str| format!("postgres://shop:quiet@{host}/lunas?{}", url.split_once('?').unwrap().1);
        let same = [one("10.0.0.1:5433"), one("db.example:5432")].map(|url| url.parse::<PostgresUrl>().unwrap());
        assert_eq!(hosts, same.map(|url| url.config));
    }

    #[test]
    fn connections_to_another_machine_are_encrypted_unless_the_url_says_otherwise() {
        let mode = |url: &str| url.parse::<PostgresUrl>().unwrap().config.get_ssl_mode();
        assert_eq!(mode("postgres://a@127.0.0.1/d"), SslMode::Disable);
        assert_eq!(mode("postgres://a@%2Frun%2Fpostgresql/d"), SslMode::Disable);
        assert_eq!(mode("postgres://a@db.example/d"), SslMode::Require);
        assert_eq!(mode("postgres://a@localhost,db.example/d"), SslMode::Require);
        assert_eq!(mode("postgres://a@localhost/d?hostaddr=127.0.0.1"), SslMode::Disable);
        assert_eq!(mode("postgres://a@localhost/d?hostaddr=192.0.2.7"), SslMode::Require);
        assert_eq!(mode("postgres://a@db.example/d?sslmode=disable"), SslMode::Disable);
        assert_eq!(mode("postgres://a@db.example/d?connect_timeout=3&sslmode=prefer"), SslMode::Prefer);
    }

    #[test]
    fn only_the_parameter_sslmode_turns_encryption_off_and_no_password_that_has_the_word() {
        for url in [
            "postgres://a:sslmode=disable@db.example/d",
            "postgres://a:x?sslmode=disable@db.example/d",
            "postgres://a:x?y&sslmode=disable@db.example/d",
            "postgres://sslmode=disable@db.example/d",
            "postgres://a@db.example/sslmode=disable",
            "postgres://a@db.example/d?password=sslmode=disable",
            "postgres://a@db.example/d?application_name=sslmode=disable",
            "postgres://db.example/d?user=a&password=x%26sslmode=disable",
        ] {
            assert_eq!(url.parse::<PostgresUrl>().unwrap().config.get_ssl_mode(), SslMode::Require, "{url}");
        }
    }
}
