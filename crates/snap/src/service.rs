//! The services behind the doors, by their numbers in SNAP.

/// A service that banks call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Service {
    Token,
    Inquiry,
    Payment,
    /// No service of ours.
    Unknown,
}

impl Service {
    /// The two digits within response codes.
    pub(crate) const fn digits(self) -> &'static str {
        match self {
            Service::Token => "73",
            Service::Inquiry => "24",
            Service::Payment => "25",
            Service::Unknown => "00",
        }
    }

    pub(crate) const fn number(self) -> i64 {
        match self {
            Service::Token => 73,
            Service::Inquiry => 24,
            Service::Payment => 25,
            Service::Unknown => 0,
        }
    }

    /// Whether it answers at a disabled account too: the bank may still ask again about money that we have judged, and
    /// needs a token for that. The engine takes no new money there.
    pub(crate) const fn outlives_account(self) -> bool {
        matches!(self, Service::Token | Service::Payment)
    }

    /// Its path below the account's.
    pub(crate) const fn path(self) -> &'static str {
        match self {
            Service::Token => "/v1.0/access-token/b2b",
            Service::Inquiry => "/v1.0/transfer-va/inquiry",
            Service::Payment => "/v1.0/transfer-va/payment",
            Service::Unknown => "",
        }
    }

    pub(crate) fn of_path(path: &str) -> Service {
        let services = [Service::Token, Service::Inquiry, Service::Payment];
        services.into_iter().find(|service| path.ends_with(service.path())).unwrap_or(Service::Unknown)
    }
}
