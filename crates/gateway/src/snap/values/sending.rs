//! The kinds of values of settings about money that goes out.

use std::{fmt, ops::RangeInclusive};

use crate::snap::setting_texts::number;

choice! {
    /// By which service the bank gives the money of a QR back.
    RefundWay {
        /// By none: money goes back by transfer.
        None = "no",
        /// qr/qr-mpm-refund
        Qr = "78",
        /// debit/refund, as wallets have it
        Debit = "58",
    }
}

choice! {
    /// Whose reference partnerRefundNo is.
    RefundReference {
        Ours = "ours",
        /// The issuer's of the payment: the same for all refunds of it.
        Issuers = "issuers",
    }
}

choice! {
    /// Whether an order that sends money may be sent again while its outcome is unknown.
    Resend {
        Never = "never",
        /// The bank takes the same reference for the same order.
        SameReference = "same_reference",
        /// The same, where X-EXTERNAL-ID is the same too.
        SameExternalId = "same_external_id",
    }
}

choice! {
    /// How a bank is named in orders.
    BankCodes { Swift = "swift", ThreeDigits = "three_digits" }
}

choice! {
    /// Where a wallet wants the bank of an inquiry (42) and the name of an account's holder.
    WalletDetails {
        /// Beside the other members.
        Outside = "outside",
        AdditionalInfo = "additional_info",
    }
}

choice! {
    /// Where the holder of an account lives, as the clearing of SKN and RTGS asks.
    Residence { Indonesia = "1", Abroad = "2" }
}

choice! {
    /// What the holder of an account is, likewise.
    HolderKind { Person = "1", Company = "2", Government = "3" }
}

/// How a bank tells a statement that is too long for one answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementPages {
    /// `none`: in one answer, or not at all. Days are asked for one by one where several are too much.
    None,
    /// `last_record`: the next page begins or ends at the `lastRecordDateTime` of the one before, as the standard has it.
    LastRecord,
    /// `numbers:100`: in pages with numbers, of so many lines.
    Numbers(u32),
}

impl StatementPages {
    const SIZES: RangeInclusive<u32> = 1..=1_000;

    pub fn parse(text: &str) -> Option<StatementPages> {
        match text {
            "none" => Some(StatementPages::None),
            "last_record" => Some(StatementPages::LastRecord),
            _ => {
                let size = number(text.strip_prefix("numbers:")?)?;
                StatementPages::SIZES.contains(&size).then_some(StatementPages::Numbers(size))
            }
        }
    }
}

impl fmt::Display for StatementPages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StatementPages::None => f.write_str("none"),
            StatementPages::LastRecord => f.write_str("last_record"),
            StatementPages::Numbers(size) => write!(f, "numbers:{size}"),
        }
    }
}
