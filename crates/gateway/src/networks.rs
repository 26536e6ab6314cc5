//! Which addresses are not public, and what they are instead.
//!
//! Several IPv6 forms contain an IPv4 address, and a gateway or the operating system passes traffic on to it; so that
//! IPv4 address is checked too.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{Ipv4Net, Ipv6Net};

const PRIVATE: &str = "a private address";
const LOOPBACK: &str = "a loopback address";
const LINK_LOCAL: &str = "a link-local address";
const MULTICAST: &str = "a multicast address";
const UNSPECIFIED: &str = "an unspecified address";
const DOCUMENTATION: &str = "an address for documentation";
const BENCHMARK: &str = "an address for benchmarks";
const PROTOCOL: &str = "an address reserved for protocols";
const RESERVED: &str = "a reserved address";

/// The IPv4 networks that are not public.
const SPECIAL_V4: [(Ipv4Net, &str); 17] = [
    (v4([0, 0, 0, 0], 8), UNSPECIFIED),
    (v4([10, 0, 0, 0], 8), PRIVATE),
    (v4([100, 64, 0, 0], 10), "an address inside a carrier's network"),
    (v4([127, 0, 0, 0], 8), LOOPBACK),
    // It looks public, but on Azure it is the host of the virtual machine.
    (v4([168, 63, 129, 16], 32), "an address inside a cloud"),
    // Clouds serve a machine's credentials at 169.254.169.254.
    (v4([169, 254, 0, 0], 16), LINK_LOCAL),
    (v4([172, 16, 0, 0], 12), PRIVATE),
    (v4([192, 0, 0, 0], 24), PROTOCOL),
    (v4([192, 0, 2, 0], 24), DOCUMENTATION),
    (v4([192, 88, 99, 0], 24), PROTOCOL),
    (v4([192, 168, 0, 0], 16), PRIVATE),
    (v4([198, 18, 0, 0], 15), BENCHMARK),
    (v4([198, 51, 100, 0], 24), DOCUMENTATION),
    (v4([203, 0, 113, 0], 24), DOCUMENTATION),
    (v4([224, 0, 0, 0], 4), MULTICAST),
    (v4([255, 255, 255, 255], 32), "a broadcast address"),
    (v4([240, 0, 0, 0], 4), RESERVED),
];

/// The IPv6 networks that are not public and have a name of their own.
const SPECIAL_V6: [(Ipv6Net, &str); 10] = [
    (v6([0, 0, 0, 0, 0, 0, 0, 0], 128), UNSPECIFIED),
    (v6([0, 0, 0, 0, 0, 0, 0, 1], 128), LOOPBACK),
    (v6([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48), "an address of a local translator"),
    (v6([0x2001, 2, 0, 0, 0, 0, 0, 0], 48), BENCHMARK),
    (v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32), DOCUMENTATION),
    (v6([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20), DOCUMENTATION),
    (v6([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7), PRIVATE),
    (v6([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10), LINK_LOCAL),
    (v6([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10), PRIVATE),
    (v6([0xff00, 0, 0, 0, 0, 0, 0, 0], 8), MULTICAST),
];

const MAPPED: Ipv6Net = v6([0, 0, 0, 0, 0, 0xffff, 0, 0], 96);
const COMPATIBLE: Ipv6Net = v6([0, 0, 0, 0, 0, 0, 0, 0], 96);
const NAT64: Ipv6Net = v6([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96);
const SIX_TO_FOUR: Ipv6Net = v6([0x2002, 0, 0, 0, 0, 0, 0, 0], 16);
const TEREDO: Ipv6Net = v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 32);
/// Reserved for protocols such as Teredo. The few public addresses in it cannot belong to a merchant's receiver.
const PROTOCOLS: Ipv6Net = v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 23);
/// All addresses that have been assigned for use on the Internet.
const GLOBAL: Ipv6Net = v6([0x2000, 0, 0, 0, 0, 0, 0, 0], 3);

const fn v4(octets: [u8; 4], prefix: u8) -> Ipv4Net {
    let [a, b, c, d] = octets;
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), prefix)
}

const fn v6(segments: [u16; 8], prefix: u8) -> Ipv6Net {
    let [a, b, c, d, e, f, g, h] = segments;
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, d, e, f, g, h), prefix)
}

/// What kind of address it is, if not a public one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotPublic {
    /// With its article: "a private address".
    pub(crate) kind: &'static str,
    /// The IPv4 address inside, when that is the one that is not public.
    pub(crate) stands_for: Option<Ipv4Addr>,
}

/// `None` for a public address.
pub(crate) fn not_public(address: IpAddr) -> Option<NotPublic> {
    match address {
        IpAddr::V4(address) => special_v4(address).map(|kind| NotPublic { kind, stands_for: None }),
        IpAddr::V6(address) => special_v6(address),
    }
}

fn special_v4(address: Ipv4Addr) -> Option<&'static str> {
    SPECIAL_V4.iter().find(|(network, _)| network.contains(&address)).map(|(_, kind)| *kind)
}

fn special_v6(address: Ipv6Addr) -> Option<NotPublic> {
    let named = SPECIAL_V6.iter().find(|(network, _)| network.contains(&address));
    if let Some((_, kind)) = named {
        return Some(NotPublic { kind, stands_for: None });
    }
    let inside = |address| special_v4(address).map(|kind| NotPublic { kind, stands_for: Some(address) });
    let (carrier, carried) = carried(address);
    carried.into_iter().flatten().find_map(inside).or(carrier.map(|kind| NotPublic { kind, stands_for: None }))
}

/// Why the form of `address` itself is not public, if it is not, and the IPv4 addresses inside it.
fn carried(address: Ipv6Addr) -> (Option<&'static str>, [Option<Ipv4Addr>; 2]) {
    let [_, _, a, b, c, d, e, f, .., w, x, y, z] = address.octets();
    let last = Ipv4Addr::new(w, x, y, z);
    if MAPPED.contains(&address) {
        // The operating system would connect to the address inside. A receiver has no honest reason to be written this
        // way.
        (Some("an IPv4-mapped address"), [Some(last), None])
    } else if COMPATIBLE.contains(&address) {
        (Some(RESERVED), [Some(last), None])
    } else if NAT64.contains(&address) {
        (None, [Some(last), None])
    } else if SIX_TO_FOUR.contains(&address) {
        (None, [Some(Ipv4Addr::new(a, b, c, d)), None])
    } else if TEREDO.contains(&address) {
        // The server's address, and the client's with every bit inverted.
        (None, [Some(Ipv4Addr::new(c, d, e, f)), Some(Ipv4Addr::new(!w, !x, !y, !z))])
    } else if PROTOCOLS.contains(&address) {
        (Some(PROTOCOL), [None, None])
    } else {
        ((!GLOBAL.contains(&address)).then_some(RESERVED), [None, None])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first and last address of each network, and the addresses next to it, which are public unless a kind is
    /// given.
    #[test]
    fn networks_that_are_not_public_end_exactly_where_they_should() {
        for (address, kind) in [
            ("0.0.0.0", UNSPECIFIED),
            ("0.255.255.255", UNSPECIFIED),
            ("1.0.0.0", ""),
            ("9.255.255.255", ""),
            ("10.0.0.0", PRIVATE),
            ("10.255.255.255", PRIVATE),
            ("11.0.0.0", ""),
            ("100.63.255.255", ""),
            ("100.64.0.0", "an address inside a carrier's network"),
            ("100.127.255.255", "an address inside a carrier's network"),
            ("100.128.0.0", ""),
            ("126.255.255.255", ""),
            ("127.0.0.0", LOOPBACK),
            ("127.255.255.255", LOOPBACK),
            ("128.0.0.0", ""),
            ("168.63.129.15", ""),
            ("168.63.129.16", "an address inside a cloud"),
            ("168.63.129.17", ""),
            ("169.253.255.255", ""),
            ("169.254.0.0", LINK_LOCAL),
            ("169.254.169.254", LINK_LOCAL),
            ("169.254.255.255", LINK_LOCAL),
            ("169.255.0.0", ""),
            ("172.15.255.255", ""),
            ("172.16.0.0", PRIVATE),
            ("172.31.255.255", PRIVATE),
            ("172.32.0.0", ""),
            ("192.0.0.0", PROTOCOL),
            ("192.0.0.255", PROTOCOL),
            ("192.0.1.0", ""),
            ("192.0.2.0", DOCUMENTATION),
            ("192.0.3.0", ""),
            ("192.88.99.1", PROTOCOL),
            ("192.167.255.255", ""),
            ("192.168.0.0", PRIVATE),
            ("192.168.255.255", PRIVATE),
            ("192.169.0.0", ""),
            ("198.17.255.255", ""),
            ("198.18.0.0", BENCHMARK),
            ("198.19.255.255", BENCHMARK),
            ("198.20.0.0", ""),
            ("198.51.100.255", DOCUMENTATION),
            ("203.0.113.0", DOCUMENTATION),
            ("203.0.114.0", ""),
            ("223.255.255.255", ""),
            ("224.0.0.0", MULTICAST),
            ("239.255.255.255", MULTICAST),
            ("240.0.0.0", RESERVED),
            ("255.255.255.254", RESERVED),
            ("255.255.255.255", "a broadcast address"),
        ] {
            check(address, kind);
        }
    }

    #[test]
    fn only_assigned_addresses_are_public_in_ipv6() {
        for (address, kind) in [
            ("::", UNSPECIFIED),
            ("::1", LOOPBACK),
            ("::2", UNSPECIFIED),
            ("::ffff:0:8.8.8.8", RESERVED),
            ("100::1", RESERVED),
            ("1fff:ffff::1", RESERVED),
            ("2000::", ""),
            ("2001:2::1", BENCHMARK),
            ("2001:3::1", PROTOCOL),
            ("2001:20::1", PROTOCOL),
            ("2001:1ff:ffff::1", PROTOCOL),
            ("2001:200::1", ""),
            ("2001:db7:ffff::1", ""),
            ("2001:db8::1", DOCUMENTATION),
            ("2001:db9::1", ""),
            ("2606:4700:4700::1111", ""),
            ("3ffe:ffff::1", ""),
            ("3fff::1", DOCUMENTATION),
            ("3fff:fff:ffff::1", DOCUMENTATION),
            ("3fff:1000::1", ""),
            ("4000::1", RESERVED),
            ("5f00::1", RESERVED),
            ("fbff::1", RESERVED),
            ("fc00::1", PRIVATE),
            ("fd00:ec2::254", PRIVATE),
            ("fe00::1", RESERVED),
            ("fe80::1", LINK_LOCAL),
            ("febf::1", LINK_LOCAL),
            ("fec0::1", PRIVATE),
            ("feff::1", PRIVATE),
            ("ff02::1", MULTICAST),
        ] {
            check(address, kind);
        }
    }

    #[test]
    fn an_ipv4_address_does_not_hide_in_an_ipv6_one() {
        for (address, kind, stands_for) in [
            ("::ffff:10.0.0.7", PRIVATE, "10.0.0.7"),
            ("::ffff:127.0.0.1", LOOPBACK, "127.0.0.1"),
            ("::127.0.0.1", LOOPBACK, "127.0.0.1"),
            ("::169.254.169.254", LINK_LOCAL, "169.254.169.254"),
            ("64:ff9b::169.254.169.254", LINK_LOCAL, "169.254.169.254"),
            ("64:ff9b::10.0.0.7", PRIVATE, "10.0.0.7"),
            ("2002:7f00:1::1", LOOPBACK, "127.0.0.1"),
            ("2002:a00:7:ffff::8.8.8.8", PRIVATE, "10.0.0.7"),
            // Teredo: a private server, then a public one with a private client (192.168.0.1 inverted).
            ("2001:0:a00:7::f7f7:f7f7", PRIVATE, "10.0.0.7"),
            ("2001:0:808:808::3f57:fffe", PRIVATE, "192.168.0.1"),
        ] {
            let found = not_public(address.parse().unwrap()).unwrap();
            assert_eq!(found, NotPublic { kind, stands_for: Some(stands_for.parse().unwrap()) }, "{address}");
        }
        // A form that contains a public address is public where a public network passes it on.
        for (address, kind) in [
            ("::ffff:8.8.8.8", "an IPv4-mapped address"),
            ("::8.8.8.8", RESERVED),
            ("64:ff9b::8.8.8.8", ""),
            ("64:ff9b::1:8.8.8.8", RESERVED),
            ("64:ff9b:1::8.8.8.8", "an address of a local translator"),
            ("64:ff9b:1:ffff::10.0.0.7", "an address of a local translator"),
            ("64:ff9b:2::8.8.8.8", RESERVED),
            ("2002:808:808::1", ""),
            ("2001:0:808:808::f7f7:f7f7", ""),
        ] {
            check(address, kind);
        }
    }

    /// An empty kind means public.
    fn check(address: &str, kind: &str) {
        let found = not_public(address.parse().unwrap()).map_or("", |found| found.kind);
        assert_eq!(found, kind, "{address}");
    }
}
