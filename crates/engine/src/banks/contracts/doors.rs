//! Which of our doors the bank of an account calls, and which methods the account serves.

use domain::destination::Rail;
use gateway::snap::{CodeKind, Codes, Hosting, Parameters, Service};

use super::{go_live::BankAccountFile, open_account::OpenAccount};

/// A door that the bank must be told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BankDoor {
    Token,
    Inquiry,
    Payment,
    /// Money for an account that the bank hosts.
    VaNotice,
    /// Money for a QR.
    QrNotice,
    /// The same, as wallets tell it.
    DebitNotice,
    /// What became of a transfer by SKN.
    SknNotice,
    /// Likewise by RTGS.
    RtgsNotice,
}

impl BankDoor {
    /// The number in SNAP of the service behind it.
    pub const fn service(self) -> i64 {
        match self {
            BankDoor::Token => 73,
            BankDoor::Inquiry => 24,
            BankDoor::Payment => 25,
            BankDoor::VaNotice => 34,
            BankDoor::QrNotice => 52,
            BankDoor::DebitNotice => 56,
            BankDoor::SknNotice => 75,
            BankDoor::RtgsNotice => 76,
        }
    }

    /// Its path below the account's.
    pub const fn path(self) -> &'static str {
        match self {
            BankDoor::Token => "/v1.0/access-token/b2b",
            BankDoor::Inquiry => "/v1.0/transfer-va/inquiry",
            BankDoor::Payment => "/v1.0/transfer-va/payment",
            BankDoor::VaNotice => "/v1.0/transfer-va/notify-payment-intrabank",
            BankDoor::QrNotice => "/v1.0/qr/qr-mpm-notify",
            BankDoor::DebitNotice => "/v1.0/debit/notify",
            BankDoor::SknNotice => "/v1.0/transfer-skn/notify",
            BankDoor::RtgsNotice => "/v1.0/transfer-rtgs/notify",
        }
    }

    /// Whether a bank with these parameters calls it.
    fn is_called(self, parameters: &Parameters) -> bool {
        let hosts = |hosting| parameters.codes.has_va() && parameters.hosting == hosting;
        // A bank that is asked as wallets are tells of money as they do.
        let is_wallet = parameters.query_service(CodeKind::Qr) == Service::DebitStatus;
        match self {
            BankDoor::Token => parameters.takes_token(),
            BankDoor::Inquiry => hosts(Hosting::Ours),
            BankDoor::Payment => parameters.codes.has_va(),
            BankDoor::VaNotice => hosts(Hosting::Theirs),
            BankDoor::QrNotice => parameters.codes.has_qris() && !is_wallet,
            BankDoor::DebitNotice => parameters.codes.has_qris() && is_wallet,
            BankDoor::SknNotice => parameters.tells_of_transfers(Rail::Skn),
            BankDoor::RtgsNotice => parameters.tells_of_transfers(Rail::Rtgs),
        }
    }

    const ALL: [BankDoor; 8] = [
        BankDoor::Token,
        BankDoor::Inquiry,
        BankDoor::Payment,
        BankDoor::VaNotice,
        BankDoor::QrNotice,
        BankDoor::DebitNotice,
        BankDoor::SknNotice,
        BankDoor::RtgsNotice,
    ];
}

impl OpenAccount {
    /// Whether the bank may call this door.
    pub fn has_door(&self, door: BankDoor) -> bool {
        door.is_called(&self.parameters)
    }
}

impl BankAccountFile {
    /// The doors that the bank may call.
    pub fn doors(&self) -> Vec<BankDoor> {
        BankDoor::ALL.into_iter().filter(|door| door.is_called(&self.parameters)).collect()
    }

    /// The method to assign it to, as commands call it; none where there are several.
    pub fn only_method(&self) -> Option<&'static str> {
        match (self.profile.bank, self.parameters.codes) {
            (Some(bank), Codes::Va) => Some(bank.code()),
            (_, Codes::Qris) => Some("qris"),
            (Some(_) | None, Codes::Both | Codes::None) | (None, Codes::Va) => None,
        }
    }
}
