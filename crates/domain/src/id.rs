//! Typed identifiers: a prefix that names the kind, then 26 characters of a time-ordered UUIDv7.
//!
//! Ids sort by creation and carry 74 random bits. The instant and the randomness come from the caller.

use type_safe_id::{StaticType, TypeSafeId};

use crate::time::Timestamp;

/// How many random bytes an id is generated from.
pub const ENTROPY_BYTES: usize = 10;

macro_rules! ids {
    ($($name:ident = $kind:ident $prefix:literal;)*) => {
        /// One marker type per kind of id, so that a link's id cannot be used where a payment's is needed.
        pub mod kind {
            $(#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)] pub struct $kind;)*
        }
        $(
            impl StaticType for kind::$kind {
                const TYPE: &'static str = $prefix;
            }
            pub type $name = TypeSafeId<kind::$kind>;
        )*
    };
}

ids! {
    ProjectId = Project "prj";
    KeyId = Key "key";
    PaymentId = Payment "pay";
    LinkId = Link "pl";
    EventId = Event "evt";
    UserId = User "usr";
    SessionId = Session "ses";
    InviteId = Invite "inv";
    AuditId = Audit "aud";
    BankAccountId = BankAccount "bac";
    CredentialId = Credential "crd";
    StrayId = Stray "str";
    ReceiptId = Receipt "rcp";
    OpeningId = Opening "opn";
    LetterId = Letter "ltr";
    RefundId = Refund "rfd";
}

/// Generates an id of any kind that sorts by `now`.
pub fn mint<Kind: StaticType>(now: Timestamp, entropy: [u8; ENTROPY_BYTES]) -> TypeSafeId<Kind> {
    let millis = u64::try_from(now.as_millis()).unwrap_or(0);
    TypeSafeId::from_uuid(uuid::Builder::from_unix_timestamp_millis(millis, &entropy).into_uuid())
}

/// The 16 bytes behind the letters of an id. They sort as the ids do.
pub fn bytes_of<Kind: StaticType>(id: TypeSafeId<Kind>) -> [u8; 16] {
    id.uuid().into_bytes()
}

/// The id with these bytes.
pub fn of_bytes<Kind: StaticType>(bytes: [u8; 16]) -> TypeSafeId<Kind> {
    TypeSafeId::from_uuid(uuid::Uuid::from_bytes(bytes))
}

/// The smallest id of any kind that can be generated at `instant`: ids from before sort below it, ids from then on do
/// not.
pub fn first_id_at<Kind: StaticType>(instant: Timestamp) -> TypeSafeId<Kind> {
    mint(instant, [0; ENTROPY_BYTES])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_a_prefix_and_26_crockford_characters_and_sort_by_creation() {
        let early: PaymentId = mint(Timestamp::from_millis(1_800_000_000_000), [255; 10]);
        let late: PaymentId = mint(Timestamp::from_millis(1_800_000_000_001), [0; 10]);
        let text = early.to_string();
        assert_eq!(text.len(), 30);
        assert!(text.starts_with("pay_"));
        assert!(text[4..].bytes().all(|byte| b"0123456789abcdefghjkmnpqrstvwxyz".contains(&byte)));
        assert!(early.to_string() < late.to_string());
        assert_eq!(text.parse::<PaymentId>().unwrap(), early);
        assert!(bytes_of(early) < bytes_of(late));
        assert_eq!(of_bytes::<kind::Payment>(bytes_of(early)), early);
        let first: PaymentId = first_id_at(Timestamp::from_millis(1_800_000_000_001));
        assert!(text < first.to_string() && first.to_string() <= late.to_string());
    }

    #[test]
    fn an_id_of_another_kind_or_shape_is_not_an_id() {
        let payment: PaymentId = mint(Timestamp::from_millis(1), [7; 10]);
        let text = payment.to_string();
        for wrong in [
            text.replace("pay_", "pl_"),
            text.to_uppercase(),
            text[..29].to_owned(),
            format!("{text}0"),
            text.replace("pay_", ""),
            "pay_8zzzzzzzzzzzzzzzzzzzzzzzzz".to_owned(),
            String::new(),
        ] {
            assert!(wrong.parse::<PaymentId>().is_err(), "{wrong}");
        }
    }
}
