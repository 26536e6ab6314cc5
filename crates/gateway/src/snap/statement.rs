//! The statement of an account (14): which page of it is asked for, all pages together, and whether an order stands on it.
//!
//! What is not on a statement counts as money that has not left only where the whole statement was read.

use std::collections::HashSet;

use domain::{money::Rupiah, time::Timestamp};

/// Times of pages are written in seconds, so that two pages share less than two of them.
const JOINT_MS: u64 = 2_000;

/// Which movements are asked for: those of whole days in Jakarta, counted from 1970, both days included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatementAsked {
    pub first_day: i64,
    pub last_day: i64,
    pub part: StatementPart,
}

/// A page of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementPart {
    Begin,
    /// From 2 on, where the bank numbers its pages.
    Number(u32),
    /// The movements at this time and before it.
    Until(Timestamp),
    /// The movements at this time and after it.
    From(Timestamp),
}

/// What follows a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementRest {
    None,
    At(StatementPart),
    /// There is more, or may be, and nothing says how to ask for it.
    Unreachable,
}

/// One answer of the bank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementPage {
    pub lines: Vec<StatementLine>,
    pub rest: StatementRest,
    /// How many movements the bank says that there are.
    pub entries: Option<usize>,
}

/// What was read of a statement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statement {
    lines: Vec<StatementLine>,
    /// How many the bank said on its first page.
    entries: Option<usize>,
    is_begun: bool,
    has_end: bool,
    /// When the last page ended, where the next one tells that second again.
    joint: Option<Timestamp>,
}

impl Statement {
    /// Adds the next page. Movements of the second in which the page before it ended are told again.
    pub fn add(&mut self, page: StatementPage) {
        if !self.is_begun {
            self.entries = page.entries;
        }
        self.is_begun = true;
        self.has_end = page.rest == StatementRest::None;
        let is_joint = |line: &&StatementLine| line.at.zip(self.joint).is_some_and(|(at, joint)| is_near(at, joint));
        let mut before: Vec<StatementLine> = self.lines.iter().filter(is_joint).cloned().collect();
        self.joint = match page.rest {
            StatementRest::At(StatementPart::Until(at) | StatementPart::From(at)) => Some(at),
            _ => None,
        };
        for line in page.lines {
            match before.iter().position(|other| *other == line) {
                Some(at) => drop(before.swap_remove(at)),
                None => self.lines.push(line),
            }
        }
    }

    /// Whether the bank has told anything of it.
    pub const fn is_begun(&self) -> bool {
        self.is_begun
    }

    /// Both together: an order that left on one day may come back on another.
    pub fn and(mut self, other: Statement) -> Statement {
        let has_end = self.is_whole() && other.is_whole();
        self.lines.extend(other.lines);
        Statement { entries: None, is_begun: true, has_end, joint: None, lines: self.lines }
    }

    /// The end of the statement was read, and the bank has told as many movements as it says that there are.
    pub fn is_whole(&self) -> bool {
        self.has_end && self.entries.is_none_or(|entries| self.lines.len() >= entries)
    }

    /// What it says about an order. None where it does not have the order, and was not read to its end. `others`: the references of
    /// our other orders. Banks cut references, so money of this amount that has left without any of them may be this order's.
    pub fn find(&self, reference: &str, amount: Rupiah, others: &HashSet<String>) -> Option<OnStatement> {
        let found = find_on_statement(&self.lines, reference, amount);
        match found {
            OnStatement::Absent if !self.is_whole() => None,
            OnStatement::Absent if self.lines.iter().any(|line| may_be_ours(line, amount, others)) => {
                Some(OnStatement::Unclear)
            }
            found => Some(found),
        }
    }

    pub fn lines(&self) -> &[StatementLine] {
        &self.lines
    }
}

/// Whether a movement may stand on both pages of those that meet at a time.
fn is_near(at: Timestamp, joint: Timestamp) -> bool {
    at.as_millis().abs_diff(joint.as_millis()) < JOINT_MS
}

/// One movement on the account's statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementLine {
    pub is_debit: bool,
    /// None where it is no whole number of rupiah, and so none of ours.
    pub amount: Option<Rupiah>,
    pub at: Option<Timestamp>,
    /// All texts of the line as one, in capitals and without what is neither letter nor digit.
    pub(super) texts: String,
}

/// What the statement of some days says about one order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnStatement {
    /// The money has left.
    Debited,
    /// It has left, and has come back.
    Returned,
    /// Our reference is there with another amount.
    OtherAmount,
    /// Our reference is not there, but money of our amount has left for nothing that we know of.
    Unclear,
    Absent,
}

/// Looks for an order among the movements of the days in which it may have been carried out.
fn find_on_statement(lines: &[StatementLine], reference: &str, amount: Rupiah) -> OnStatement {
    let of_order: Vec<&StatementLine> = lines.iter().filter(|line| line.texts.contains(reference)).collect();
    let has = |is_debit: bool| of_order.iter().any(|line| line.is_debit == is_debit && line.amount == Some(amount));
    match (has(true), has(false)) {
        (true, false) => OnStatement::Debited,
        (true, true) => OnStatement::Returned,
        (false, _) if !of_order.is_empty() => OnStatement::OtherAmount,
        (false, _) => OnStatement::Absent,
    }
}

/// Whether a movement on which our reference does not stand may be our order all the same: it takes away as much, and is none of
/// our others.
fn may_be_ours(line: &StatementLine, amount: Rupiah, others: &HashSet<String>) -> bool {
    line.is_debit && line.amount == Some(amount) && !names_one_of(line, others)
}

fn names_one_of(line: &StatementLine, references: &HashSet<String>) -> bool {
    // Accounts have had references of different lengths, a few at the most.
    let lengths: HashSet<usize> = references.iter().map(String::len).filter(|length| *length > 0).collect();
    let is_named = |part: &[u8]| std::str::from_utf8(part).is_ok_and(|part| references.contains(part));
    lengths.into_iter().any(|length| line.texts.as_bytes().windows(length).any(is_named))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(is_debit: bool, amount: i64, texts: &str) -> StatementLine {
        StatementLine { is_debit, amount: Some(Rupiah::new(amount)), at: None, texts: texts.to_owned() }
    }

    #[test]
    fn an_order_is_found_by_its_reference_and_its_amount() {
        let (ours, other) = ("4Q8Z0V1K2M3N4P5R6S7T8U9W0", "5Q8Z0V1K2M3N4P5R6S7T8U9W0");
        let (debit, credit) = (line(true, 50_000, &format!("TRSF{ours}X")), line(false, 50_000, ours));
        for (lines, found) in [
            (vec![], OnStatement::Absent),
            (vec![line(true, 50_000, other)], OnStatement::Absent),
            (vec![line(true, 50_000, "")], OnStatement::Absent),
            (vec![line(true, 50_000, other), debit.clone()], OnStatement::Debited),
            (vec![credit.clone(), debit], OnStatement::Returned),
            (vec![line(true, 49_999, ours)], OnStatement::OtherAmount),
            (vec![credit], OnStatement::OtherAmount),
            (vec![StatementLine { amount: None, ..line(true, 0, ours) }], OnStatement::OtherAmount),
        ] {
            assert_eq!(find_on_statement(&lines, ours, Rupiah::new(50_000)), found, "{lines:?}");
        }
    }

    fn page(lines: &[&StatementLine], rest: StatementRest) -> StatementPage {
        StatementPage { lines: lines.iter().copied().cloned().collect(), rest, entries: None }
    }

    #[test]
    fn what_was_not_read_to_its_end_proves_no_absence() {
        let (ours, other) = ("4Q8Z0V1K2M3N4P5R6S7T8U9W0", "5Q8Z0V1K2M3N4P5R6S7T8U9W0");
        let (debit, strange) = (line(true, 50_000, ours), line(true, 50_000, other));
        let next = StatementRest::At(StatementPart::Number(2));
        let read = |pages: Vec<StatementPage>| {
            let mut statement = Statement::default();
            pages.into_iter().for_each(|page| statement.add(page));
            statement.find(ours, Rupiah::new(50_000), &HashSet::from([other.to_owned()]))
        };
        assert_eq!(read(vec![]), None);
        assert_eq!(read(vec![page(&[&strange], next)]), None);
        assert_eq!(read(vec![page(&[&strange], StatementRest::Unreachable)]), None);
        assert_eq!(read(vec![page(&[&strange], StatementRest::None)]), Some(OnStatement::Absent));
        assert_eq!(read(vec![page(&[&strange], next), page(&[], StatementRest::None)]), Some(OnStatement::Absent));
        assert_eq!(
            read(vec![page(&[&strange], next), page(&[&debit], StatementRest::None)]),
            Some(OnStatement::Debited)
        );
        // What is there is there, whatever is missing.
        assert_eq!(read(vec![page(&[&debit], StatementRest::Unreachable)]), Some(OnStatement::Debited));
        let counted = StatementPage { entries: Some(2), ..page(&[&strange], StatementRest::None) };
        assert_eq!(read(vec![counted]), None, "the bank says that there are two");
    }

    #[test]
    fn money_of_the_same_amount_that_may_be_ours_proves_no_absence() {
        let (ours, other) = ("4Q8Z0V1K2M3N4P5R6S7T8U9W0", "5Q8Z0V1K2M3N4P5R6S7T8U9W0");
        let short = &other[..20];
        for (strange, others, found) in [
            (line(true, 50_000, ""), vec![other], Some(OnStatement::Unclear)),
            (line(true, 50_000, &format!("TRSF{}", &ours[..18])), vec![other], Some(OnStatement::Unclear)),
            (line(true, 50_000, &format!("TRSF{other}TOKO")), vec![other], Some(OnStatement::Absent)),
            (line(true, 50_000, &format!("TRSF{short}")), vec![other, short], Some(OnStatement::Absent)),
            (line(true, 50_000, &format!("TRSF{other}TOKO")), vec![], Some(OnStatement::Unclear)),
            (line(true, 49_999, ""), vec![], Some(OnStatement::Absent)),
            (line(false, 50_000, ""), vec![], Some(OnStatement::Absent)),
        ] {
            let mut statement = Statement::default();
            statement.add(page(&[&strange], StatementRest::None));
            let others = others.into_iter().map(str::to_owned).collect();
            assert_eq!(statement.find(ours, Rupiah::new(50_000), &others), found, "{strange:?}");
            // What is there is there, whatever else is.
            statement.add(page(&[&line(true, 50_000, ours)], StatementRest::None));
            assert_eq!(statement.find(ours, Rupiah::new(50_000), &others), Some(OnStatement::Debited));
        }
    }

    #[test]
    fn a_movement_that_two_pages_tell_is_one() {
        let at = |millis: i64| StatementLine { at: Some(Timestamp::from_millis(millis)), ..line(true, 1, "A") };
        let mut statement = Statement::default();
        let next = StatementRest::At(StatementPart::Until(Timestamp::from_millis(2_000)));
        statement.add(page(&[&at(3_000), &at(2_000), &at(2_000)], next));
        statement.add(page(&[&at(2_000), &at(2_000), &at(2_000), &at(1_000)], StatementRest::None));
        assert_eq!(statement.lines().len(), 5);
    }
}
