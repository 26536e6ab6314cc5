//! How many connections one address may have open at once, so that a single visitor cannot take all that there are.

use std::{
    net::IpAddr,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use ipnet::IpNet;

use crate::{
    address_slots::{AddressSlot, AddressSlots},
    client,
};

/// How often refused connections are logged, however many there are.
const LOG_EVERY: Duration = Duration::from_secs(10);

/// The connections of all addresses.
pub(crate) struct Connections {
    /// None where the operator has lifted the limit.
    slots: Option<AddressSlots>,
    trusted_proxies: Vec<IpNet>,
    refused: Mutex<Refused>,
}

/// How many connections were refused since the start, and when that was last logged.
#[derive(Default)]
struct Refused {
    count: u64,
    logged: Option<Instant>,
}

impl Connections {
    /// An address may have `most` connections; 0 lifts the limit.
    pub(crate) fn new(most: usize, trusted_proxies: Vec<IpNet>) -> Connections {
        let slots = (most > 0).then(|| AddressSlots::new(most));
        Connections { slots, trusted_proxies, refused: Mutex::default() }
    }

    /// A slot for a connection from this peer; none when the peer has too many. A trusted proxy is not one visitor but all
    /// of them, so it has no limit.
    pub(crate) fn enter(&self, peer: IpAddr) -> Option<AddressSlot> {
        let peer = peer.to_canonical();
        match &self.slots {
            Some(slots) if !client::is_trusted(peer, &self.trusted_proxies) => {
                let slot = slots.take(client::limited_as(peer));
                if slot.is_none() {
                    self.count_refused(peer);
                }
                slot
            }
            _ => Some(AddressSlot::unlimited()),
        }
    }

    fn count_refused(&self, client: IpAddr) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.count += 1;
        if refused.logged.is_none_or(|logged| logged.elapsed() >= LOG_EVERY) {
            refused.logged = Some(Instant::now());
            let hint = "if this is your proxy, name it in LUNAS_TRUSTED_PROXIES";
            tracing::warn!(%client, refused = refused.count, "an address has too many connections open; {hint}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn enter(connections: &Connections, peer: &str, times: usize) -> Vec<AddressSlot> {
        (0..times).filter_map(|_| connections.enter(peer.parse().unwrap())).collect()
    }

    #[test]
    fn visitors_are_counted_by_address_and_trusted_proxies_not_at_all() {
        let connections = Connections::new(2, vec!["10.0.0.0/8".parse().unwrap()]);
        let first = enter(&connections, "198.51.100.1", 5);
        assert_eq!(first.len(), 2);
        assert_eq!(connections.refused.lock().unwrap().count, 3);
        assert_eq!(enter(&connections, "::ffff:198.51.100.1", 1).len(), 0, "the same address, written otherwise");
        assert_eq!(enter(&connections, "198.51.100.2", 1).len(), 1);
        assert_eq!(enter(&connections, "10.0.0.7", 100).len(), 100);
        let neighbour = enter(&connections, "2001:db8::1", 2);
        assert_eq!(neighbour.len(), 2);
        assert_eq!(enter(&connections, "2001:db8::2", 1).len(), 0, "neighbours in one IPv6 network count together");
        drop(first);
        assert_eq!(enter(&connections, "198.51.100.1", 5).len(), 2);
        assert_eq!(enter(&Connections::new(0, Vec::new()), "198.51.100.1", 100).len(), 100);
    }
}
