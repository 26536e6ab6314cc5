//! The services behind the doors, by their numbers in SNAP.

use engine::BankDoor;

/// A service that banks call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Service {
    Token,
    Inquiry,
    Payment,
    /// Money for a number that the bank hosts.
    VaNotify,
    /// A QR was paid.
    QrNotify,
    /// The same, as wallets say it.
    DebitNotify,
    /// What became of a transfer of ours by SKN.
    SknNotify,
    /// Likewise by RTGS.
    RtgsNotify,
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
            Service::VaNotify => "34",
            Service::QrNotify => "52",
            Service::DebitNotify => "56",
            Service::SknNotify => "75",
            Service::RtgsNotify => "76",
            Service::Unknown => "00",
        }
    }

    pub(crate) const fn number(self) -> i64 {
        match self {
            Service::Token => 73,
            Service::Inquiry => 24,
            Service::Payment => 25,
            Service::VaNotify => 34,
            Service::QrNotify => 52,
            Service::DebitNotify => 56,
            Service::SknNotify => 75,
            Service::RtgsNotify => 76,
            Service::Unknown => 0,
        }
    }

    /// The services with a door.
    pub(crate) const ALL: [Service; 8] = [
        Service::Token,
        Service::Inquiry,
        Service::Payment,
        Service::VaNotify,
        Service::QrNotify,
        Service::DebitNotify,
        Service::SknNotify,
        Service::RtgsNotify,
    ];

    /// Whether it answers at a disabled account too: the bank may still ask again about money that we have judged, or tell
    /// of money that it has taken, and needs a token for that. The engine is asked to take no new money there.
    pub(crate) const fn outlives_account(self) -> bool {
        !matches!(self, Service::Inquiry | Service::Unknown)
    }

    /// Which door of an account it is; none for those that every account has. A token by itself takes nothing, so all banks
    /// get one.
    pub(crate) const fn door(self) -> Option<BankDoor> {
        match self {
            Service::Token | Service::Unknown => None,
            Service::Inquiry => Some(BankDoor::Inquiry),
            Service::Payment => Some(BankDoor::Payment),
            Service::VaNotify => Some(BankDoor::VaNotice),
            Service::QrNotify => Some(BankDoor::QrNotice),
            Service::DebitNotify => Some(BankDoor::DebitNotice),
            Service::SknNotify => Some(BankDoor::SknNotice),
            Service::RtgsNotify => Some(BankDoor::RtgsNotice),
        }
    }

    /// Its path below the account's.
    pub(crate) const fn path(self) -> &'static str {
        match self {
            Service::Token => "/v1.0/access-token/b2b",
            Service::Inquiry => "/v1.0/transfer-va/inquiry",
            Service::Payment => "/v1.0/transfer-va/payment",
            Service::VaNotify => "/v1.0/transfer-va/notify-payment-intrabank",
            Service::QrNotify => "/v1.0/qr/qr-mpm-notify",
            Service::DebitNotify => "/v1.0/debit/notify",
            Service::SknNotify => "/v1.0/transfer-skn/notify",
            Service::RtgsNotify => "/v1.0/transfer-rtgs/notify",
            Service::Unknown => "",
        }
    }

    pub(crate) fn of_path(path: &str) -> Service {
        Service::ALL.into_iter().find(|service| path.ends_with(service.path())).unwrap_or(Service::Unknown)
    }
}
