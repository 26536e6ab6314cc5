//! How values of the domain, which knows no JSON, are stored within a letter: moments and amounts as numbers, and what has a word
//! by that word.

use domain::{access::Role, letter::SummaryPeriod, method::Method, receipt::Unapplied};

pub(crate) mod timestamp {
    use domain::time::Timestamp;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(at.as_millis())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
        i64::deserialize(deserializer).map(Timestamp::from_millis)
    }
}

pub(crate) mod rupiah {
    use domain::money::Rupiah;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(amount: &Rupiah, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(amount.get())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Rupiah, D::Error> {
        i64::deserialize(deserializer).map(Rupiah::new)
    }
}

pub(crate) mod word {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use super::Word;

    pub(crate) fn serialize<T: Word, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&value.to_word())
    }

    pub(crate) fn deserialize<'de, T: Word, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        let text = String::deserialize(deserializer)?;
        T::from_word(&text).ok_or_else(|| D::Error::custom("a word that names nothing"))
    }
}

/// A value that is stored by its word.
pub(crate) trait Word: Sized {
    fn to_word(&self) -> String;
    fn from_word(word: &str) -> Option<Self>;
}

macro_rules! by_word {
    ($($name:ty,)*) => {
        $(impl Word for $name {
            fn to_word(&self) -> String {
                self.word().to_owned()
            }

            fn from_word(word: &str) -> Option<Self> {
                <$name>::parse(word)
            }
        })*
    };
}

by_word! { Role, SummaryPeriod, Unapplied, }

impl Word for Method {
    fn to_word(&self) -> String {
        self.to_string()
    }

    fn from_word(word: &str) -> Option<Self> {
        Method::parse(word)
    }
}
