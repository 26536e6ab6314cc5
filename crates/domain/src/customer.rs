//! The fields that a link asks its customer to fill in, and whether the answers are acceptable.

use crate::{
    link::CustomerFields,
    payment::Customer,
    rules::{Fault, TextRule},
};

/// A field that the customer fills in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CustomerField {
    Name,
    Email,
    Phone,
    Address,
}

impl CustomerField {
    pub const ALL: [CustomerField; 4] =
        [CustomerField::Name, CustomerField::Email, CustomerField::Phone, CustomerField::Address];

    pub const fn word(self) -> &'static str {
        self.rule().field
    }

    pub const fn rule(self) -> TextRule {
        match self {
            CustomerField::Name => TextRule { field: "name", least: 1, most: 255, line_breaks: false },
            CustomerField::Email => TextRule { field: "email", least: 1, most: 255, line_breaks: false },
            CustomerField::Phone => TextRule { field: "phone", least: 1, most: 255, line_breaks: false },
            CustomerField::Address => TextRule { field: "address", least: 1, most: 1_000, line_breaks: true },
        }
    }

    /// Whether the text could be a way to reach the customer at all. Merchants check it further if they need to.
    fn is_plausible(self, text: &str) -> bool {
        match self {
            CustomerField::Name | CustomerField::Address => true,
            CustomerField::Email => text.split_once('@').is_some_and(|(who, at)| !who.is_empty() && !at.is_empty()),
            CustomerField::Phone => text.contains(|character: char| character.is_ascii_digit()),
        }
    }

    fn fault(self, text: &str) -> Option<Fault> {
        self.rule().fault(text).or_else(|| (!self.is_plausible(text)).then_some(Fault::Malformed))
    }
}

impl Customer {
    /// Whether they gave something by which their payments can be told from those of others.
    pub fn is_known(&self) -> bool {
        !self.email.is_empty() || !self.phone.is_empty()
    }

    /// What they are called in a list: the first that they gave of a name, an email address and a phone number.
    pub fn called(&self) -> Option<&str> {
        [&self.name, &self.email, &self.phone].into_iter().map(String::as_str).find(|text| !text.is_empty())
    }

    pub fn answer(&self, field: CustomerField) -> &str {
        match field {
            CustomerField::Name => &self.name,
            CustomerField::Email => &self.email,
            CustomerField::Phone => &self.phone,
            CustomerField::Address => &self.address,
        }
    }
}

impl CustomerFields {
    pub const fn asks(self, field: CustomerField) -> bool {
        match field {
            CustomerField::Name => self.name,
            CustomerField::Email => self.email,
            CustomerField::Phone => self.phone,
            CustomerField::Address => self.address,
        }
    }

    /// The answers to the fields that the link asks for, trimmed. Answers to other fields are dropped.
    pub fn with_answers(self, given: impl Fn(CustomerField) -> String) -> Customer {
        let answer = |field| if self.asks(field) { given(field).trim().to_owned() } else { String::new() };
        Customer {
            name: answer(CustomerField::Name),
            email: answer(CustomerField::Email),
            phone: answer(CustomerField::Phone),
            address: answer(CustomerField::Address),
        }
    }

    /// What is wrong with the answers. Every field that the link asks for must be filled in.
    pub fn faults(self, answers: &Customer) -> Vec<(CustomerField, Fault)> {
        let asked = CustomerField::ALL.into_iter().filter(|field| self.asks(*field));
        asked.filter_map(|field| Some((field, field.fault(answers.answer(field))?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: CustomerFields = CustomerFields { name: true, email: true, phone: true, address: true };

    fn answers() -> Customer {
        Customer {
            name: "Siti".to_owned(),
            email: "siti@example.com".to_owned(),
            phone: "+62 812 0000 0000".to_owned(),
            address: "Jl. Melati 1\nBandung".to_owned(),
        }
    }

    #[test]
    fn everything_asked_must_be_answered_within_its_rule() {
        let check = |answers: Customer, faults: &[(CustomerField, Fault)]| assert_eq!(ALL.faults(&answers), faults);
        check(answers(), &[]);
        check(Customer::default(), &CustomerField::ALL.map(|field| (field, Fault::Empty)));
        let long = |characters| "é".repeat(characters);
        check(Customer { name: long(255), address: long(1_000), ..answers() }, &[]);
        let (name, address) = (Fault::TooLong { most: 255 }, Fault::TooLong { most: 1_000 });
        let faults = [(CustomerField::Name, name), (CustomerField::Address, address)];
        check(Customer { name: long(256), address: long(1_001), ..answers() }, &faults);
        check(Customer { name: "a\nb".to_owned(), ..answers() }, &[(CustomerField::Name, Fault::Malformed)]);
        check(Customer { email: "siti".to_owned(), ..answers() }, &[(CustomerField::Email, Fault::Malformed)]);
        check(Customer { phone: "nol".to_owned(), ..answers() }, &[(CustomerField::Phone, Fault::Malformed)]);
    }

    #[test]
    fn what_is_not_asked_is_neither_needed_nor_kept() {
        let fields = CustomerFields { email: true, ..CustomerFields::default() };
        let kept = fields.with_answers(|field| format!(" {}@x\n", field.word()));
        assert_eq!(kept, Customer { email: "email@x".to_owned(), ..Customer::default() });
        assert_eq!(fields.faults(&kept), []);
    }
}
