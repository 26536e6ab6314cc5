//! Counts what each address has open at once, and refuses more than its limit.

use std::{
    collections::{HashMap, hash_map::Entry},
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// The slots of all addresses. Cheap to clone.
#[derive(Clone)]
pub(crate) struct AddressSlots {
    /// The most of one address.
    most: usize,
    taken: Arc<Mutex<HashMap<IpAddr, usize>>>,
}

/// One slot of an address, or of none where there is no limit. Dropping it gives the slot back.
pub struct AddressSlot(Option<(AddressSlots, IpAddr)>);

impl AddressSlots {
    pub(crate) fn new(most: usize) -> AddressSlots {
        AddressSlots { most, taken: Arc::default() }
    }

    /// One more slot of an address; none when the address has all of its slots taken.
    pub(crate) fn take(&self, address: IpAddr) -> Option<AddressSlot> {
        let mut taken = self.taken();
        let count = taken.entry(address).or_default();
        if *count >= self.most {
            return None;
        }
        *count += 1;
        Some(AddressSlot(Some((self.clone(), address))))
    }

    fn taken(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AddressSlot {
    /// The slot of somebody to whom no limit applies.
    pub(crate) fn unlimited() -> AddressSlot {
        AddressSlot(None)
    }
}

impl Drop for AddressSlot {
    fn drop(&mut self) {
        let Some((slots, address)) = &self.0 else { return };
        let mut taken = slots.taken();
        if let Entry::Occupied(mut entry) = taken.entry(*address) {
            *entry.get_mut() -= 1;
            if *entry.get() == 0 {
                entry.remove();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_limit_and_gets_another_slot_when_one_is_given_back() {
        let slots = AddressSlots::new(3);
        let (one, other) = (IpAddr::from([192, 0, 2, 1]), IpAddr::from([192, 0, 2, 2]));
        let mut taken: Vec<AddressSlot> = (0..3).filter_map(|_| slots.take(one)).collect();
        assert_eq!(taken.len(), 3);
        assert!(slots.take(one).is_none() && slots.take(other).is_some());
        taken.pop();
        taken.extend(slots.take(one));
        assert!(slots.take(one).is_none());
        drop(taken);
        assert!(slots.taken().is_empty(), "an address without slots is not kept");
    }
}
