//! The shapes in which banks write the number of a virtual account. It has three members: the company's code
//! (partnerServiceId), the customer's part (customerNo) and the whole. Banks pad the code with spaces or with zeros, and some
//! write the whole number into customerNo.

use super::{
    parameters::Parameters,
    values::{CustomerNo, Padding},
};

/// A partner service id is padded to this length.
const SERVICE_ID_CHARACTERS: usize = 8;
/// The longest customerNo and the longest whole number by the standard.
const CUSTOMER_DIGITS_MOST: usize = 20;
const NUMBER_DIGITS_MOST: usize = 28;

const SERVICE_ID: &str = "partnerServiceId";
const CUSTOMER_NO: &str = "customerNo";
const NUMBER: &str = "virtualAccountNo";

impl Parameters {
    /// The partner service id as our messages have it: padded with spaces on the left. Empty while it is not set.
    pub fn padded_service_id(&self) -> String {
        match self.service_id() {
            "" => String::new(),
            id => format!("{id:>SERVICE_ID_CHARACTERS$}"),
        }
    }

    /// The whole number that a customer types.
    pub fn number(&self, customer_no: &str) -> String {
        format!("{}{customer_no}", self.service_id())
    }

    /// The whole number without padding, from its three members as a bank has written them. They must agree; an error is
    /// the name of the member that is wrong.
    pub fn read_number(&self, service_id: &str, customer_no: &str, number: &str) -> Result<String, &'static str> {
        let may_hold_whole = self.customer_no == CustomerNo::Any;
        let customer_most = if may_hold_whole { NUMBER_DIGITS_MOST } else { CUSTOMER_DIGITS_MOST };
        let service = digits(service_id, SERVICE_ID_CHARACTERS).ok_or(SERVICE_ID)?;
        let customer = digits(customer_no, customer_most).ok_or(CUSTOMER_NO)?;
        let number = digits(number, NUMBER_DIGITS_MOST).ok_or(NUMBER)?;
        let takes_zeros = self.service_id_padding == Padding::Any;
        let own = self.service_id();
        let is_own = takes_zeros && !own.is_empty() && unpadded(service, own) == own;
        let service = if is_own { own } else { service };
        let bare = |text| if takes_zeros { unpadded(text, service) } else { text };
        let (number, held) = (bare(number), bare(customer));
        let parts = format!("{service}{customer}");
        // Some banks put the code before the whole number once more. Then the customer's part is as long as our numbers.
        let own_length = service.len() + self.customer_digits as usize;
        let is_whole = may_hold_whole
            && held.len() > service.len()
            && held.starts_with(service)
            && (number == held || (number == parts && held.len() == own_length));
        match (is_whole, number == parts) {
            (true, _) => Ok(held.to_owned()),
            (false, true) => Ok(parts),
            (false, false) => Err(NUMBER),
        }
    }

    /// The number that a bank names in an answer or a notification, by as many of the three members as there are.
    pub(super) fn told_number(
        &self,
        service_id: Option<&str>,
        customer_no: Option<&str>,
        number: Option<&str>,
    ) -> Option<String> {
        match (service_id, customer_no, number) {
            (Some(service_id), Some(customer_no), Some(number)) => {
                // Some banks fill the two parts with zeros: then the whole counts.
                let read = self.read_number(service_id, customer_no, number).ok();
                Some(read.unwrap_or_else(|| self.without_padding(number)))
            }
            (_, _, Some(number)) => Some(self.without_padding(number)),
            (_, Some(customer_no), None) => {
                let whole = self.without_padding(customer_no);
                let is_whole = whole.starts_with(self.service_id())
                    && whole.len() == self.service_id().len() + self.customer_digits as usize;
                Some(if is_whole { whole } else { self.number(customer_no) })
            }
            (_, None, None) => None,
        }
    }

    /// A number that a bank has written, without the spaces or zeros that pad its service id.
    fn without_padding(&self, number: &str) -> String {
        unpadded(number.trim_start(), self.service_id()).to_owned()
    }
}

/// The digits after spaces on the left, at most `most`.
fn digits(text: &str, most: usize) -> Option<&str> {
    let bare = text.trim_start_matches(' ');
    let is_number = !bare.is_empty() && bare.len() <= most && bare.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some(bare)
}

/// The text from the service id on, if nothing but the zeros that pad the id stands before it; else the text as it is.
fn unpadded<'a>(text: &'a str, service_id: &str) -> &'a str {
    let zeros = text.bytes().take_while(|byte| *byte == b'0').count();
    let most = zeros.min(SERVICE_ID_CHARACTERS.saturating_sub(service_id.len()));
    let mut rests = (0..=most).filter_map(|padding| text.get(padding..));
    rests.find(|rest| rest.starts_with(service_id)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::snap::Profile;

    fn account(profile: &str, service_id: &str) -> Parameters {
        let settings = [("partner_service_id", service_id), ("customer_digits", "12")];
        let settings: BTreeMap<String, String> =
            settings.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        Profile::named(profile).unwrap().parameters(&settings).unwrap()
    }

    const WHOLE: &str = "88899123456789012";

    #[test]
    fn a_number_is_read_in_the_shapes_in_which_banks_write_it() {
        let rows = [
            (("88899", "123456789012", WHOLE), true),
            (("   88899", "123456789012", "   88899123456789012"), true),
            (("   88899", "123456789012", WHOLE), true),
            (("00088899", "123456789012", "00088899123456789012"), false),
            (("00088899", "123456789012", WHOLE), false),
            (("  088899", "123456789012", "  088899123456789012"), false),
            (("88899", WHOLE, WHOLE), false),
            (("   88899", "88899123456789012", "   8889988899123456789012"), false),
            (("00088899", "00088899123456789012", "00088899123456789012"), false),
        ];
        for ((service_id, customer_no, number), is_strict) in rows {
            let lenient = account("mandiri", "88899").read_number(service_id, customer_no, number);
            assert_eq!(lenient.as_deref(), Ok(WHOLE), "{service_id} {customer_no} {number}");
            let strict = account("bca", "88899").read_number(service_id, customer_no, number);
            assert_eq!(strict.as_deref() == Ok(WHOLE), is_strict, "{service_id} {customer_no} {number}: {strict:?}");
        }
    }

    #[test]
    fn members_that_do_not_agree_are_no_number() {
        let account = account("mandiri", "88899");
        for (service_id, customer_no, number, wrong) in [
            ("88899", "123456789012", "88899123456789013", NUMBER),
            ("88899", "123456789012", "123456789012", NUMBER),
            ("88899", "88899123456789012", "88899123456789013", NUMBER),
            ("88898", "123456789012", WHOLE, NUMBER),
            ("88899   ", "123456789012", WHOLE, SERVICE_ID),
            ("000088899", "123456789012", WHOLE, SERVICE_ID),
            ("88899", "12345678901a", WHOLE, CUSTOMER_NO),
            ("88899", "", WHOLE, CUSTOMER_NO),
            ("88899", "123456789012", "-1", NUMBER),
        ] {
            let read = account.read_number(service_id, customer_no, number);
            assert_eq!(read, Err(wrong), "{service_id} {customer_no} {number}");
        }
        // Another company's number is a number, and nobody here has it.
        let other = account.read_number("77777", "123456789012", "77777123456789012");
        assert_eq!(other.as_deref(), Ok("77777123456789012"));
    }

    #[test]
    fn a_customers_part_that_begins_like_the_code_is_not_the_whole_number() {
        let read = account("mandiri", "88899").read_number("88899", "888991234567", "88899888991234567");
        assert_eq!(read.as_deref(), Ok("88899888991234567"));
    }

    #[test]
    fn a_code_that_begins_with_zeros_keeps_them() {
        let account = account("mandiri", "00899");
        for (service_id, number) in [("00899", "00899123456789012"), ("00000899", "00000899123456789012")] {
            let read = account.read_number(service_id, "123456789012", number);
            assert_eq!(read.as_deref(), Ok("00899123456789012"), "{service_id}");
        }
    }

    #[test]
    fn what_a_bank_tells_of_needs_one_member_that_names_the_number() {
        let account = account("briva-ws", "88899");
        let told = |service_id, customer_no, number| account.told_number(service_id, customer_no, number);
        for (service_id, customer_no, number) in [
            (Some("   88899"), Some("123456789012"), Some("   88899123456789012")),
            (Some("00000000"), Some("00000000000000000000"), Some(WHOLE)),
            (None, None, Some("00088899123456789012")),
            (Some("88899"), Some("123456789012"), None),
            (None, Some("123456789012"), None),
            (None, Some(WHOLE), None),
        ] {
            assert_eq!(told(service_id, customer_no, number).as_deref(), Some(WHOLE), "{customer_no:?} {number:?}");
        }
        assert_eq!(told(Some("88899"), None, None), None);
    }
}
