//! Ports on which no web server listens.

/// The ports to which browsers send no request either: the "bad ports" of the Fetch standard
/// (<https://fetch.spec.whatwg.org/#port-blocking>). Programs that speak other protocols listen there, and some of them would
/// act on lines of a webhook.
const BLOCKED: [u16; 83] = [
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109,
    110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531,
    532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060,
    5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
];

pub(crate) fn is_blocked(port: u16) -> bool {
    BLOCKED.binary_search(&port).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_so_that_every_port_of_it_is_found() {
        assert!(BLOCKED.is_sorted());
        assert!(BLOCKED.into_iter().all(is_blocked));
        assert!(![80, 443, 3000, 8000, 8080, 8443].into_iter().any(is_blocked));
    }
}
