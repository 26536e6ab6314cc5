//! Which members a bank promises to send with every payment request (25), beside those without which no money can be judged.

use std::fmt;

/// The members that may be promised. What is not promised is used when it is there.
const KNOWN: [&str; 5] = ["virtualAccountName", "channelCode", "totalAmount", "trxDateTime", "flagAdvise"];

/// `totalAmount,trxDateTime`; empty: `none`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PaymentNeeds(Vec<&'static str>);

impl PaymentNeeds {
    pub fn parse(text: &str) -> Option<PaymentNeeds> {
        if text == "none" {
            return Some(PaymentNeeds::default());
        }
        let known = |name: &str| KNOWN.into_iter().find(|known| *known == name);
        let names: Vec<&'static str> = text.split(',').map(known).collect::<Option<_>>()?;
        let is_once = |name: &&'static str| names.iter().filter(|other| *other == name).count() == 1;
        names.iter().all(is_once).then_some(PaymentNeeds(names))
    }

    pub fn names(&self) -> &[&'static str] {
        &self.0
    }
}

impl fmt::Display for PaymentNeeds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { f.write_str("none") } else { f.write_str(&self.0.join(",")) }
    }
}
