//! The words of refunds, as the API has them.

macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$meaning:meta])* $variant:ident $word:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$meaning])* $variant,)*
        }

        impl $name {
            pub const ALL: &[$name] = &[$($name::$variant,)*];

            pub const fn word(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)*
                }
            }

            pub fn parse(word: &str) -> Option<$name> {
                $name::ALL.iter().copied().find(|value| value.word() == word)
            }
        }
    };
}

words! {
    RefundStatus {
        /// We need to know the customer's bank account.
        RequiresAction "requires_action",
        Pending "pending",
        Succeeded "succeeded",
        Failed "failed",
        /// Before anything was sent.
        Cancelled "cancelled",
        /// The transfer was made and came back.
        Returned "returned",
    }
}

words! {
    /// Why a refund is pending.
    PendingReason {
        AwaitingApproval "awaiting_approval",
        /// The bank account that pays lacks money.
        InsufficientBalance "insufficient_balance",
        Processing "processing",
    }
}

words! {
    RefundRoad {
        /// Back to the account that the code was paid from.
        Qris "qris",
        /// To a bank account that the customer or the merchant names.
        Transfer "transfer",
    }
}
