//! Options that several commands share, by flag or environment variable, and the settings that they become. No command is here.

use std::{
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    str::FromStr,
    time::Duration,
};

use axum::http::HeaderName;
use clap::{Args, value_parser};
use domain::{attempt_limits::AttemptLimits, fee::FeeSchedule, money::Rupiah};
use engine::{Courier, Engine, Settings, SettlementDelays};
use gateway::{AddressGuard, SendLimits, WebhookSender};
use ipnet::IpNet;
use web::{ServerConfig, Timeouts, limits::BANK_CALLS_PER_SECOND};

use engine::addresses::{Scheme, base_url};

use crate::{error::CliError, output::Output, variables};

pub(crate) const DEFAULT_DATA: &str = "./lunas-data";
pub(crate) const DATABASE_FILE: &str = "lunas.db";
pub(crate) const DEFAULT_LISTEN: &str = "127.0.0.1:8080";
const DEFAULT_SIGNATURE_HEADER: &str = "X-Service-Signature";
const RATE_MOST: i64 = 1_000_000;
/// An eighth of all connections: enough for a mobile network whose customers share one address.
const CONNECTIONS_PER_ADDRESS: u32 = 2_048;
const CONNECTIONS: u16 = store::CONNECTIONS as u16;
/// Short reads, commits and notifications have connections reserved; fewer than this would leave none for anything else.
const CONNECTIONS_LEAST: i64 = 8;
const CONNECTIONS_MOST: i64 = 1_000;
const IN_FLIGHT_MOST: i64 = 1_000;
const PENDING_MOST: i64 = 1_000_000;
const ATTEMPTS_MOST: i64 = 1_000_000;
/// A day; a customer who must wait longer than that does not come back.
const WINDOW_MINUTES_MOST: u64 = 24 * 60;
/// A year; a longer delay of settlement is a typing mistake.
const SETTLE_SECONDS_MOST: u64 = 366 * 24 * 60 * 60;

const OF_EVERY_COMMAND: &str = "Options of every command";

/// Options of every command, before its name or after it.
#[derive(Args)]
pub(crate) struct GlobalOptions {
    /// The database: sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE. Without it, commands use lunas.db in the directory
    /// LUNAS_DATA, or in ./lunas-data. Use the variable to keep a password out of the process list.
    // The URL may contain a password, so the help must not show its value.
    #[arg(long, global = true, help_heading = OF_EVERY_COMMAND, value_name = "URL", env = "LUNAS_DATABASE",
          hide_env_values = true)]
    database: Option<String>,
    /// The most connections to open to a PostgreSQL server, 8 to 1000.
    #[arg(long, global = true, help_heading = OF_EVERY_COMMAND, value_name = "NUMBER", env = "LUNAS_DATABASE_CONNECTIONS",
          default_value_t = CONNECTIONS, value_parser = value_parser!(u16).range(CONNECTIONS_LEAST..=CONNECTIONS_MOST))]
    database_connections: u16,
    /// The configuration file. Without it, lunas.toml in the current directory, or /etc/lunas/lunas.toml. Flags and environment
    /// variables override its values.
    #[arg(long, global = true, help_heading = OF_EVERY_COMMAND, value_name = "FILE", env = "LUNAS_CONFIG")]
    config: Option<PathBuf>,
    /// Answer with one line of JSON in place of text for people.
    #[arg(long, global = true, help_heading = OF_EVERY_COMMAND)]
    json: bool,
}

impl GlobalOptions {
    pub(crate) fn output(&self) -> Output {
        Output { json: self.json }
    }

    /// The database that was given; an empty value counts as none.
    pub(crate) fn database(&self) -> Option<&str> {
        self.database.as_deref().filter(|url| !url.is_empty())
    }

    pub(crate) fn database_connections(&self) -> usize {
        self.database_connections.into()
    }
}

/// The data directory of `lunas dev`.
pub(crate) fn data_directory() -> PathBuf {
    variables::get("LUNAS_DATA").map_or_else(|| PathBuf::from(DEFAULT_DATA), |data| PathBuf::from(data.text))
}

/// The database file that commands use when none is given.
pub(crate) fn default_database_file() -> PathBuf {
    data_directory().join(DATABASE_FILE)
}

/// Options of `lunas dev` and `lunas serve`.
#[derive(Args)]
pub(crate) struct ServerOptions {
    /// The address and port to accept connections on. With port 0 the system chooses one.
    #[arg(long, env = "LUNAS_LISTEN", value_name = "ADDRESS", default_value = DEFAULT_LISTEN)]
    listen: SocketAddr,
    /// The URL at which merchants' programs reach the API, and banks their doors. `lunas dev` derives it from the listening
    /// address; `lunas serve` needs an https one.
    #[arg(long, env = "LUNAS_BASE_URL", value_name = "URL")]
    base_url: Option<String>,
    /// The URL at which people reach the checkout and the dashboard, if it is not the base URL.
    #[arg(long, env = "LUNAS_CHECKOUT_URL_BASE", value_name = "URL")]
    checkout_url_base: Option<String>,
    /// How many requests per second each API key may make; twice as many may come at once. 0 lifts all limits.
    #[arg(long, env = "LUNAS_RATE_LIMIT", value_name = "REQUESTS", default_value_t = 100,
          value_parser = value_parser!(u32).range(0..=RATE_MOST))]
    rate_limit: u32,
    /// The networks of your own proxies, separated by commas. X-Forwarded-For, which says where a request came from, is trusted
    /// only from them.
    #[arg(long, env = "LUNAS_TRUSTED_PROXIES", value_name = "NETWORKS", default_value = "", hide_default_value = true)]
    trusted_proxies: Networks,
    /// How many connections one address (IPv6: one /64) may have open at once; further ones are closed. Mobile networks put
    /// many people behind one address. Connections from your own proxies do not count. 0 lifts the limit, and so does
    /// --rate-limit 0.
    #[arg(long, env = "LUNAS_CONNECTIONS_PER_ADDRESS", value_name = "NUMBER",
          default_value_t = CONNECTIONS_PER_ADDRESS, value_parser = value_parser!(u32).range(0..=web::CONNECTIONS_MOST as i64))]
    connections_per_address: u32,
    /// Whether the documentation is served at /docs.
    #[arg(long, env = "LUNAS_DOCS", value_name = "SWITCH", value_enum, default_value_t = Switch::On)]
    docs: Switch,
}

/// Whether something is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Switch {
    On,
    Off,
}

impl ServerOptions {
    /// The server's configuration, or one line for each URL that cannot be used.
    pub(crate) fn config(&self, scheme: Scheme) -> Result<ServerConfig, Vec<String>> {
        let mut reasons = Vec::new();
        let mut checked = |variable: &str, text: &Option<String>| {
            let text = text.as_deref().filter(|text| !text.is_empty())?;
            match base_url(text, scheme) {
                Ok(url) => return Some(url),
                Err(rule) => reasons.push(format!("{variable} {rule}; it is `{}`", shown(text))),
            }
            None
        };
        let base_url = checked("LUNAS_BASE_URL", &self.base_url);
        let pages_url = checked("LUNAS_CHECKOUT_URL_BASE", &self.checkout_url_base);
        if scheme == Scheme::HttpsOnly && self.base_url.as_deref().is_none_or(str::is_empty) {
            reasons
                .insert(0, "LUNAS_BASE_URL is not set; set it to the public https:// URL of this service".to_owned());
        }
        if !reasons.is_empty() {
            return Err(reasons);
        }
        Ok(ServerConfig {
            listen: self.listen,
            base_url,
            pages_url,
            rate_limit_per_second: self.rate_limit,
            bank_calls_per_second: BANK_CALLS_PER_SECOND,
            trusted_proxies: self.trusted_proxies.0.clone(),
            connections_per_address: self.connections_per_address(),
            signature_header: DEFAULT_SIGNATURE_HEADER.to_owned(),
            is_development: false,
            has_docs: self.docs == Switch::On,
            timeouts: Timeouts::default(),
        })
    }

    /// A rate of 0 lifts all limits, so this one too.
    fn connections_per_address(&self) -> usize {
        let most = if self.rate_limit == 0 { 0 } else { self.connections_per_address };
        usize::try_from(most).unwrap_or(usize::MAX)
    }
}

/// Where this service is reached, for commands that name its addresses.
#[derive(Args)]
pub(crate) struct PublicUrl {
    /// The URL at which merchants' programs and banks reach the service, as `lunas serve` has it. For the database of `lunas dev`
    /// it is where that server listens, unless another one is given.
    #[arg(long, global = true, env = "LUNAS_BASE_URL", value_name = "URL")]
    base_url: Option<String>,
}

impl PublicUrl {
    /// The URL without a trailing slash; none where it is not set. It must be https, except for development.
    pub(crate) fn checked(&self, is_development: bool) -> Result<Option<String>, CliError> {
        checked_url("LUNAS_BASE_URL", self.base_url.as_deref(), is_development)
    }
}

/// Where people reach the pages of this service, for commands that name their addresses.
#[derive(Args)]
pub(crate) struct PagesUrl {
    #[command(flatten)]
    base: PublicUrl,
    /// The URL at which people reach the dashboard, if it is not the base URL.
    #[arg(long, env = "LUNAS_CHECKOUT_URL_BASE", value_name = "URL")]
    checkout_url_base: Option<String>,
}

impl PagesUrl {
    /// Like [`PublicUrl::checked`].
    pub(crate) fn checked(&self, is_development: bool) -> Result<Option<String>, CliError> {
        match checked_url("LUNAS_CHECKOUT_URL_BASE", self.checkout_url_base.as_deref(), is_development)? {
            None => self.base.checked(is_development),
            url => Ok(url),
        }
    }
}

/// The URL that a variable names, without a trailing slash; none where it is not set.
fn checked_url(variable: &str, text: Option<&str>, is_development: bool) -> Result<Option<String>, CliError> {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(None) };
    let scheme = if is_development { Scheme::HttpOrHttps } else { Scheme::HttpsOnly };
    let refused = |rule| CliError::new(format!("{variable} {rule}; it is `{}`", shown(text)));
    base_url(text, scheme).map(Some).map_err(refused)
}

/// A URL for a message. One that may contain a password is not shown.
pub(crate) fn shown(text: &str) -> String {
    match text.contains('@') {
        true => "…".to_owned(),
        false => text.escape_debug().to_string(),
    }
}

/// Networks separated by commas; an address alone is a network of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Networks(Vec<IpNet>);

impl FromStr for Networks {
    type Err = String;

    fn from_str(text: &str) -> Result<Networks, String> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        let network = |part: &str| {
            let address = || part.parse::<IpAddr>().map(IpNet::from);
            let network = part.parse::<IpNet>().or_else(|_| address());
            network.map_err(|_| format!("`{part}` is not a network such as 10.0.0.0/8"))
        };
        parts.map(network).collect::<Result<_, _>>().map(Networks)
    }
}

/// Where webhooks may be sent, for commands that send them or set their URL.
#[derive(Args)]
#[command(next_help_heading = "Webhooks")]
pub(crate) struct WebhookTargets {
    /// Private networks that webhooks may be sent to, separated by commas.
    #[arg(long, env = "LUNAS_WEBHOOK_ALLOW", value_name = "NETWORKS", default_value = "", hide_default_value = true)]
    webhook_allow: Networks,
}

impl WebhookTargets {
    pub(crate) fn with(&self, settings: Settings) -> Settings {
        Settings { webhook_allow: self.webhook_allow.0.clone(), ..settings }
    }

    /// Judges URLs before there is an engine. Names are not looked up.
    pub(crate) fn guard(&self, is_development: bool) -> AddressGuard {
        AddressGuard::new(self.webhook_allow.0.clone(), is_development)
    }
}

/// Where a webhook's signature is, for commands that sign webhooks.
#[derive(Args)]
#[command(next_help_heading = "Webhooks")]
pub(crate) struct SignatureOptions {
    /// The header that carries a webhook's signature.
    #[arg(long, env = "LUNAS_WEBHOOK_SIGNATURE_HEADER", value_name = "NAME", default_value = DEFAULT_SIGNATURE_HEADER,
          value_parser = signature_header)]
    webhook_signature_header: HeaderName,
}

/// Only names with `X-` are allowed, since other headers have a meaning for the receiver's server.
fn signature_header(name: &str) -> Result<HeaderName, String> {
    let is_own = name.get(..2).is_some_and(|start| start.eq_ignore_ascii_case("x-"));
    let name = HeaderName::from_bytes(name.as_bytes()).ok().filter(|_| is_own);
    name.ok_or_else(|| "it is the name of a header that begins with `X-`".to_owned())
}

impl SignatureOptions {
    pub(crate) fn header(&self) -> String {
        self.webhook_signature_header.to_string()
    }
}

/// How webhooks are sent.
#[derive(Args)]
#[command(next_help_heading = "Webhooks")]
pub(crate) struct WebhookOptions {
    #[command(flatten)]
    pub(crate) targets: WebhookTargets,
    #[command(flatten)]
    signature: SignatureOptions,
    /// How many webhooks of one project may be in flight at once while its receiver answers quickly, and as many more for
    /// events about security. A receiver that is slow or fails gets four.
    #[arg(long, env = "LUNAS_WEBHOOK_IN_FLIGHT", value_name = "NUMBER", default_value_t = 64,
          value_parser = value_parser!(u16).range(1..=IN_FLIGHT_MOST))]
    webhook_in_flight: u16,
}

impl WebhookOptions {
    pub(crate) fn signature_header(&self) -> String {
        self.signature.header()
    }

    pub(crate) async fn courier(&self, engine: &Engine, pages_url: String) -> Result<Courier, CliError> {
        Ok(Courier {
            sender: webhook_sender(engine.webhook_guard().await?)?,
            signature_header: self.signature_header(),
            in_flight_per_project: self.webhook_in_flight.into(),
            pages_url,
        })
    }
}

/// A sender of webhooks to the addresses that `guard` allows.
pub(crate) fn webhook_sender(guard: AddressGuard) -> Result<WebhookSender, CliError> {
    WebhookSender::new(guard, SendLimits::default()).map_err(|error| {
        CliError::new(format!("{error}; install CA certificates, on most systems the package ca-certificates"))
    })
}

/// How many attempts to pay a link there may be.
#[derive(Args)]
#[command(next_help_heading = "Checkout")]
pub(crate) struct AttemptOptions {
    /// How many payments of a single-use link may be pending at a time.
    #[arg(long, env = "LUNAS_ATTEMPTS_PENDING_SINGLE", value_name = "NUMBER", default_value_t = 20,
          value_parser = value_parser!(i64).range(1..=PENDING_MOST))]
    attempts_pending_single: i64,
    /// How many payments of a link for many payments may be pending at a time.
    #[arg(long, env = "LUNAS_ATTEMPTS_PENDING_MANY", value_name = "NUMBER", default_value_t = 1_000,
          value_parser = value_parser!(i64).range(1..=PENDING_MOST))]
    attempts_pending_many: i64,
    /// How many payments of a single-use link may be started from one address within the window. 0 lifts this limit, and so
    /// does LUNAS_RATE_LIMIT=0.
    #[arg(long, env = "LUNAS_ATTEMPTS_PER_ADDRESS", value_name = "NUMBER", default_value_t = 10,
          value_parser = value_parser!(i64).range(0..=ATTEMPTS_MOST))]
    attempts_per_address: i64,
    /// The length of that window, in minutes.
    #[arg(long, env = "LUNAS_ATTEMPTS_WINDOW_MINUTES", value_name = "MINUTES", default_value_t = 10,
          value_parser = value_parser!(u64).range(1..=WINDOW_MINUTES_MOST))]
    attempts_window_minutes: u64,
}

impl AttemptOptions {
    pub(crate) fn with(&self, settings: Settings) -> Settings {
        let attempts = AttemptLimits {
            pending_single_use: self.attempts_pending_single,
            pending_multi_use: self.attempts_pending_many,
            per_address: Some(self.attempts_per_address).filter(|most| *most > 0),
            window: Duration::from_mins(self.attempts_window_minutes),
        };
        Settings { attempts, ..settings }
    }
}

/// What is demanded of the users of the dashboard.
#[derive(Args)]
#[command(next_help_heading = "Dashboard")]
pub(crate) struct UserOptions {
    /// Whether every user of the dashboard needs a second factor. One who has none can do nothing but add it.
    #[arg(long, env = "LUNAS_SECOND_FACTOR_REQUIRED", value_name = "SWITCH", value_enum, default_value_t = Switch::Off)]
    second_factor_required: Switch,
}

impl UserOptions {
    pub(crate) fn with(&self, settings: Settings) -> Settings {
        Settings { factor_required: self.second_factor_required == Switch::On, ..settings }
    }
}

/// Fees and settlement delays: options of commands that create or pay payments.
#[derive(Args)]
#[command(next_help_heading = "Fees and settlement")]
pub(crate) struct MoneyOptions {
    /// The fee on a QRIS payment, in hundredths of a percent of its amount.
    #[arg(long, env = "LUNAS_FEE_QRIS_BASIS_POINTS", value_name = "POINTS", default_value_t = 70,
          value_parser = value_parser!(i64).range(0..=10_000))]
    fee_qris_basis_points: i64,
    /// The fee on a virtual account payment, in whole rupiah.
    #[arg(long, env = "LUNAS_FEE_VIRTUAL_ACCOUNT", value_name = "RUPIAH", default_value_t = 4_000,
          value_parser = value_parser!(i64).range(0..=Rupiah::MAX.get()))]
    fee_virtual_account: i64,
    /// How long a sandbox payment's money stays pending before it is available, in seconds.
    #[arg(long, env = "LUNAS_SETTLE_SANDBOX_SECONDS", value_name = "SECONDS", default_value_t = 60,
          value_parser = value_parser!(u64).range(0..=SETTLE_SECONDS_MOST))]
    settle_sandbox_seconds: u64,
    /// How long the money of a QRIS payment in production stays pending, in seconds.
    #[arg(long, env = "LUNAS_SETTLE_QRIS_SECONDS", value_name = "SECONDS", default_value_t = 86_400,
          value_parser = value_parser!(u64).range(0..=SETTLE_SECONDS_MOST))]
    settle_qris_seconds: u64,
    /// How long the money of a virtual account payment in production stays pending, in seconds.
    #[arg(long, env = "LUNAS_SETTLE_VIRTUAL_ACCOUNT_SECONDS", value_name = "SECONDS", default_value_t = 86_400,
          value_parser = value_parser!(u64).range(0..=SETTLE_SECONDS_MOST))]
    settle_virtual_account_seconds: u64,
}

impl MoneyOptions {
    pub(crate) fn settings(&self) -> Settings {
        Settings {
            fees: FeeSchedule {
                qris_basis_points: self.fee_qris_basis_points,
                virtual_account: Rupiah::new(self.fee_virtual_account),
            },
            settlement: SettlementDelays {
                sandbox: Duration::from_secs(self.settle_sandbox_seconds),
                qris: Duration::from_secs(self.settle_qris_seconds),
                virtual_account: Duration::from_secs(self.settle_virtual_account_seconds),
            },
            ..Settings::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(base_url: Option<&str>, checkout_url_base: Option<&str>) -> ServerOptions {
        ServerOptions {
            listen: ([127, 0, 0, 1], 0).into(),
            base_url: base_url.map(str::to_owned),
            checkout_url_base: checkout_url_base.map(str::to_owned),
            rate_limit: 100,
            trusted_proxies: Networks(Vec::new()),
            connections_per_address: 7,
            docs: Switch::On,
        }
    }

    #[test]
    fn a_rate_of_0_lifts_the_limit_of_connections_too() {
        let limit = |rate_limit| ServerOptions { rate_limit, ..options(None, None) }.connections_per_address();
        assert_eq!((limit(100), limit(0)), (7, 0));
    }

    #[test]
    fn serving_needs_https_and_every_wrong_url_is_named() {
        let reasons = |base, checkout| options(base, checkout).config(Scheme::HttpsOnly).err().unwrap_or_default();
        assert_eq!(reasons(Some("https://a.example"), Some("https://b.example")), Vec::<String>::new());
        assert_eq!(reasons(None, None).len(), 1);
        assert_eq!(reasons(Some(""), Some("")).len(), 1);
        let both = reasons(Some("http://a.example"), Some("b.example"));
        assert!(both[0].starts_with("LUNAS_BASE_URL must"), "{both:?}");
        assert!(both[1].starts_with("LUNAS_CHECKOUT_URL_BASE must"), "{both:?}");
        assert!(!reasons(Some("https://user:quiet@a.example"), None)[0].contains("quiet"));
    }

    #[test]
    fn development_needs_no_url() {
        let config = options(None, Some("http://b.example/")).config(Scheme::HttpOrHttps).unwrap();
        assert_eq!((config.base_url, config.pages_url.as_deref()), (None, Some("http://b.example")));
    }

    #[test]
    fn docs_are_served_unless_they_are_turned_off() {
        let has_docs =
            |docs| ServerOptions { docs, ..options(None, None) }.config(Scheme::HttpOrHttps).unwrap().has_docs;
        assert_eq!((has_docs(Switch::On), has_docs(Switch::Off)), (true, false));
        let read = |word| <Switch as clap::ValueEnum>::from_str(word, false);
        assert_eq!((read("on"), read("off")), (Ok(Switch::On), Ok(Switch::Off)));
        assert!(read("false").is_err());
    }

    #[test]
    fn a_signature_has_a_header_of_its_own() {
        assert_eq!(signature_header("X-Shop-Signature").unwrap().as_str(), "x-shop-signature");
        for name in ["", "X", "Host", "content-type", "X-Not a name", "x-é", "é"] {
            assert!(signature_header(name).is_err(), "{name}");
        }
    }

    #[test]
    fn proxies_are_networks_or_addresses_between_commas() {
        let read = |text: &str| text.parse::<Networks>().map(|networks| networks.0.len());
        assert_eq!(read(""), Ok(0));
        assert_eq!(read("10.0.0.0/8, 192.168.1.1,::1/128,"), Ok(3));
        assert!(read("10.0.0.0/33").is_err());
        assert!(read("proxy.example").is_err());
    }
}
