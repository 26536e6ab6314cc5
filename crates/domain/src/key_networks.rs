//! The networks from which an API key may be used. A key without any may be used from everywhere.

use std::{fmt, net::IpAddr, sync::Arc};

use ipnet::IpNet;

use crate::rules::Invalid;

/// Networks that one key may have.
pub const KEY_NETWORKS_MOST: usize = 20;

/// The networks of one key, each once, in the order in which they were given. Copies share them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyNetworks(Arc<[IpNet]>);

/// Why networks cannot be those of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrongNetworks {
    TooMany,
    /// The one at this place, counted from 0.
    One {
        index: usize,
        fault: NetworkFault,
    },
}

/// What is wrong with one network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetworkFault {
    Malformed,
    /// An address within this network. Whether the address or the network was meant is not known.
    Inside(IpNet),
    /// An IPv6 form of an IPv4 network. Clients are known by their IPv4 address, so none would be in it.
    Mapped,
}

impl fmt::Display for NetworkFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NetworkFault::Malformed => {
                formatter.write_str("must be an address or a network, such as 203.0.113.7 or 203.0.113.0/24")
            }
            NetworkFault::Inside(network) => {
                write!(formatter, "must be a whole network, such as {network}, or one address")
            }
            NetworkFault::Mapped => formatter.write_str("must be written as IPv4"),
        }
    }
}

impl WrongNetworks {
    /// As the API says it.
    pub fn invalid(self) -> Invalid {
        match self {
            WrongNetworks::TooMany => {
                Invalid::new("networks", format!("must have at most {KEY_NETWORKS_MOST} entries"))
            }
            WrongNetworks::One { index, fault } => Invalid::new(format!("networks[{index}]"), fault.to_string()),
        }
    }
}

impl KeyNetworks {
    /// Reads the networks of a request. An address alone is a network of one.
    pub fn parse(texts: &[impl AsRef<str>]) -> Result<KeyNetworks, WrongNetworks> {
        if texts.len() > KEY_NETWORKS_MOST {
            return Err(WrongNetworks::TooMany);
        }
        let mut networks: Vec<IpNet> = Vec::with_capacity(texts.len());
        for (index, text) in texts.iter().enumerate() {
            let network = parse_network(text.as_ref()).map_err(|fault| WrongNetworks::One { index, fault })?;
            if !networks.contains(&network) {
                networks.push(network);
            }
        }
        Ok(KeyNetworks(networks.into()))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the key may be used from this address.
    pub fn allow(&self, address: IpAddr) -> bool {
        self.0.is_empty() || self.0.iter().any(|network| network.contains(&address))
    }

    /// Each with its prefix: `203.0.113.7/32`.
    pub fn words(&self) -> Vec<String> {
        self.0.iter().map(IpNet::to_string).collect()
    }
}

fn parse_network(text: &str) -> Result<IpNet, NetworkFault> {
    let network = match text.parse::<IpAddr>() {
        Ok(address) => IpNet::from(address),
        Err(_) => text.parse::<IpNet>().map_err(|_| NetworkFault::Malformed)?,
    };
    if matches!(network, IpNet::V6(six) if six.addr().to_ipv4_mapped().is_some()) {
        return Err(NetworkFault::Mapped);
    }
    if network.trunc() != network {
        return Err(NetworkFault::Inside(network.trunc()));
    }
    Ok(network)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn networks(texts: &[&str]) -> KeyNetworks {
        KeyNetworks::parse(texts).unwrap()
    }

    #[test]
    fn a_key_may_be_used_from_its_networks_and_from_everywhere_if_it_has_none() {
        let check = |texts: &[&str], address: &str, allowed: bool| {
            assert_eq!(networks(texts).allow(address.parse().unwrap()), allowed, "{texts:?} {address}");
        };
        check(&[], "198.51.100.1", true);
        check(&["198.51.100.1"], "198.51.100.1", true);
        check(&["198.51.100.1"], "198.51.100.2", false);
        check(&["10.0.0.0/8", "198.51.100.0/24"], "198.51.100.255", true);
        check(&["10.0.0.0/8", "198.51.100.0/24"], "198.51.101.0", false);
        check(&["0.0.0.0/0"], "203.0.113.9", true);
        check(&["0.0.0.0/0"], "2001:db8::1", false);
        check(&["2001:db8::/32"], "2001:db8:ffff::1", true);
        check(&["2001:db8::/32"], "2001:db9::1", false);
    }

    #[test]
    fn networks_are_stored_with_their_prefix_each_once() {
        assert_eq!(
            networks(&["203.0.113.7", "10.0.0.0/8", "203.0.113.7/32", "2001:DB8::1"]).words(),
            ["203.0.113.7/32", "10.0.0.0/8", "2001:db8::1/128"]
        );
    }

    #[test]
    fn a_wrong_network_is_named_by_its_place() {
        let malformed = "must be an address or a network, such as 203.0.113.7 or 203.0.113.0/24";
        let rows = [
            ("", malformed),
            (" 10.0.0.0/8", malformed),
            ("10.0.0.0/33", malformed),
            ("10.0.0/8", malformed),
            ("10.0.0.256", malformed),
            ("010.0.0.1", malformed),
            ("shop.example", malformed),
            ("10.0.0.1-10.0.0.9", malformed),
            ("10.0.0.5/8", "must be a whole network, such as 10.0.0.0/8, or one address"),
            ("2001:db8::1/32", "must be a whole network, such as 2001:db8::/32, or one address"),
            ("::ffff:10.0.0.1", "must be written as IPv4"),
            ("::ffff:10.0.0.0/104", "must be written as IPv4"),
        ];
        for (text, rule) in rows {
            let wrong = KeyNetworks::parse(&["10.0.0.1", text]).map_err(WrongNetworks::invalid);
            assert_eq!(wrong, Err(Invalid::new("networks[1]", rule)), "{text}");
        }
    }

    #[test]
    fn a_key_has_at_most_twenty_networks() {
        let texts: Vec<String> = (0..21).map(|number| format!("10.0.0.{number}")).collect();
        assert_eq!(KeyNetworks::parse(&texts[..20]).unwrap().words().len(), 20);
        let refused = KeyNetworks::parse(&texts).map_err(WrongNetworks::invalid);
        assert_eq!(refused, Err(Invalid::new("networks", "must have at most 20 entries")));
    }
}
