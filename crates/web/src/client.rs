//! The IP address of the client, which rate limits count by and the log names. `X-Forwarded-For` is believed only from
//! trusted proxies.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use axum::http::{Extensions, HeaderMap};
use ipnet::IpNet;

/// The address at the other end of the socket, which may be a proxy's.
#[derive(Clone, Copy)]
pub struct Peer(pub IpAddr);

/// How many addresses of `X-Forwarded-For` are read. Real chains of proxies are shorter.
const HOPS_MOST: usize = 16;

/// The client's address: the last one in `X-Forwarded-For` that is not a trusted proxy, or the peer's if the peer is not one.
pub fn address(extensions: &Extensions, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let peer = peer(extensions);
    let is_trusted = |address| is_trusted(address, trusted);
    if !is_trusted(peer) {
        return peer;
    }
    let forwarded = headers.get_all("x-forwarded-for").iter().filter_map(|value| value.to_str().ok());
    let hops: Vec<&str> = forwarded.flat_map(|value| value.split(',')).map(str::trim).collect();
    let mut client = peer;
    for hop in hops.iter().rev().take(HOPS_MOST) {
        let Some(address) = forwarded_address(hop) else { break };
        client = address.to_canonical();
        if !is_trusted(client) {
            break;
        }
    }
    client
}

/// The address in one entry of `X-Forwarded-For`. Some proxies add the port, and some write IPv6 in brackets.
fn forwarded_address(hop: &str) -> Option<IpAddr> {
    let in_brackets = || hop.strip_prefix('[')?.strip_suffix(']')?.parse::<Ipv6Addr>().ok().map(IpAddr::V6);
    let with_port = || hop.parse::<SocketAddr>().ok().map(|address| address.ip());
    hop.parse().ok().or_else(with_port).or_else(in_brackets)
}

/// Whether the peer is a trusted proxy, so that its headers are believed.
pub fn is_proxied(extensions: &Extensions, trusted: &[IpNet]) -> bool {
    is_trusted(peer(extensions), trusted)
}

fn peer(extensions: &Extensions) -> IpAddr {
    extensions.get::<Peer>().map_or(IpAddr::V6(Ipv6Addr::UNSPECIFIED), |peer| peer.0.to_canonical())
}

pub(crate) fn is_trusted(address: IpAddr, trusted: &[IpNet]) -> bool {
    trusted.iter().any(|network| network.contains(&address))
}

/// The address that rate limits count by: the address itself, or for IPv6 its /64 network, since providers usually give one
/// customer a whole /64.
pub fn limited_as(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(address) => {
            let network = u128::from(address) & (u128::MAX << 64);
            IpAddr::V6(network.into())
        }
    }
}

/// The network that an address is in: its /24, for IPv6 its /48. One person rarely has more than one at hand, and even those
/// who have many addresses have few of these.
pub fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4((u32::from(address) & (u32::MAX << 8)).into()),
        IpAddr::V6(address) => IpAddr::V6((u128::from(address) & (u128::MAX << 80)).into()),
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn seen(peer: &str, forwarded: &[&'static str]) -> String {
        let mut extensions = Extensions::new();
        extensions.insert(Peer(peer.parse().unwrap()));
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append("x-forwarded-for", HeaderValue::from_static(value));
        }
        let trusted = ["127.0.0.0/8".parse().unwrap(), "10.0.0.0/8".parse().unwrap()];
        address(&extensions, &headers, &trusted).to_string()
    }

    #[test]
    fn only_trusted_proxies_are_believed() {
        assert_eq!(seen("203.0.113.9", &["198.51.100.1"]), "203.0.113.9");
        assert_eq!(seen("127.0.0.1", &["198.51.100.1"]), "198.51.100.1");
        assert_eq!(seen("127.0.0.1", &["6.6.6.6, 198.51.100.1, 10.0.0.7"]), "198.51.100.1");
        assert_eq!(seen("127.0.0.1", &["6.6.6.6", "198.51.100.1"]), "198.51.100.1");
        assert_eq!(seen("::ffff:127.0.0.1", &["198.51.100.1"]), "198.51.100.1");
    }

    #[test]
    fn an_address_may_have_a_port_and_brackets() {
        for (entry, address) in [
            ("198.51.100.1:5678", "198.51.100.1"),
            ("2001:db8::1", "2001:db8::1"),
            ("[2001:db8::1]", "2001:db8::1"),
            ("[2001:db8::1]:443", "2001:db8::1"),
            ("[::ffff:198.51.100.1]:443", "198.51.100.1"),
            ("6.6.6.6:1, 198.51.100.1:2, 10.0.0.7:3", "198.51.100.1"),
        ] {
            assert_eq!(seen("127.0.0.1", &[entry]), address, "{entry}");
        }
    }

    #[test]
    fn junk_in_the_header_is_not_an_address() {
        assert_eq!(seen("127.0.0.1", &["unknown"]), "127.0.0.1");
        assert_eq!(seen("127.0.0.1", &["198.51.100.1, junk, 10.0.0.7"]), "10.0.0.7");
        for junk in
            ["198.51.100.1:", "198.51.100.1:99999", "[198.51.100.1]", "[2001:db8::1", "2001:db8::1]:443", "_hidden"]
        {
            assert_eq!(seen("127.0.0.1", &[junk]), "127.0.0.1", "{junk}");
        }
        assert_eq!(seen("127.0.0.1", &[]), "127.0.0.1");
    }

    #[test]
    fn neighbours_in_one_ipv6_network_share_a_limit() {
        let one = limited_as("2001:db8:1:2::1".parse().unwrap());
        assert_eq!(one, limited_as("2001:db8:1:2:ffff::9".parse().unwrap()));
        assert_ne!(one, limited_as("2001:db8:1:3::1".parse().unwrap()));
    }

    #[test]
    fn neighbours_are_in_one_network() {
        for (address, network) in [
            ("203.0.113.7", "203.0.113.0"),
            ("::ffff:203.0.113.7", "203.0.113.0"),
            ("203.0.112.7", "203.0.112.0"),
            ("2001:db8:1:2::3", "2001:db8:1::"),
            ("2001:db8:2:2::3", "2001:db8:2::"),
        ] {
            assert_eq!(network_of(address.parse().unwrap()).to_string(), network, "{address}");
        }
    }
}
