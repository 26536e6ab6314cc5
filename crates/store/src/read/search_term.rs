//! Comparing payments with a search term, in SQL.

use domain::{
    id::PaymentId,
    search::{ID_LEAST, Number, SearchTerm, amount},
};

use super::{Conditions, pattern};
use crate::value::Value;

/// The characters of a payment's id.
const ID_LENGTH: usize = PaymentId::static_len();

/// What is known of the payment's customer. A subquery in this form is run for one payment at a time; PostgreSQL might read
/// all customers for an EXISTS.
const CUSTOMER: &str = "(SELECT c.search_text FROM checkouts c WHERE c.payment_id = p.id)";
const LINK: &str = "(SELECT l.search_text FROM links l WHERE l.id = p.link_id)";

/// Adds the condition that a payment is what the term looks for: that all its words occur, or that it is the number.
pub(super) fn and_term(conditions: &mut Conditions, term: &SearchTerm) {
    let words: Vec<String> = term.words().iter().map(|word| has_word(conditions, word)).collect();
    let mut ways = Vec::new();
    if !words.is_empty() {
        ways.push(words.join(" AND "));
    }
    if let Some(Number { digits, phone }) = term.number() {
        let account = contained(conditions, digits);
        ways.push(format!("(p.method <> 'qris' AND p.code {account})"));
        ways.push(format!("{CUSTOMER} {}", contained(conditions, phone)));
    }
    if let Some(amount) = term.amount() {
        ways.push(format!("p.amount = {}", conditions.place(amount)));
    }
    conditions.and_sql(&format!("({})", ways.join(" OR ")));
}

/// The condition that a word occurs in what a payment is known by. This is the one place that compares it with a term;
/// `maintenance/search_index.rs` has the one that reads it for the index.
fn has_word(conditions: &mut Conditions, word: &str) -> String {
    let contains = contained(conditions, word);
    let mut ways = vec![
        format!("p.search_text {contains}"),
        format!("(p.method <> 'qris' AND p.code {contains})"),
        format!("{CUSTOMER} {contains}"),
        format!("{LINK} {contains}"),
        format!("p.metadata_text {contains}"),
    ];
    if let Some(amount) = amount(word) {
        ways.push(format!("p.amount = {}", conditions.place(amount)));
    }
    if is_id_prefix(word) {
        ways.push(id_begins(conditions, word));
    }
    format!("({})", ways.join(" OR "))
}

/// Whether a folded word can be the beginning of a payment's id.
pub(super) fn is_id_prefix(word: &str) -> bool {
    word.len() >= ID_LEAST && word.starts_with("pay_")
}

pub(super) fn id_begins(conditions: &mut Conditions, prefix: &str) -> String {
    // The first and the last id that can begin so; none where no id can.
    let filled = |letter: &str| format!("{prefix}{}", letter.repeat(ID_LENGTH.saturating_sub(prefix.len()))).parse();
    let (Ok(first), Ok(last)): (Result<PaymentId, _>, Result<PaymentId, _>) = (filled("0"), filled("z")) else {
        return "1 = 0".to_owned();
    };
    let (from, until) = (conditions.place(Value::stored(first)), conditions.place(Value::stored(last)));
    format!("(p.id >= {from} AND p.id <= {until})")
}

/// The end of a condition: contains the text. No character of it is special.
fn contained(conditions: &mut Conditions, text: &str) -> String {
    let pattern = conditions.place(pattern(text));
    format!("LIKE {pattern} ESCAPE '\\'")
}
