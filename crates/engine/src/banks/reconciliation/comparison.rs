//! What comes of comparing a day of an account with its bank: each transaction with its class, and the sums.

use domain::{
    bank_difference::{ComparedBy, Difference, DifferenceKey, DifferenceKind, Reconciliation, Tally},
    id::{BankAccountId, PaymentId},
    money::Rupiah,
    time::Timestamp,
};
use gateway::snap::{CodeKind, Hosting, Parameters, Service};

/// How a transaction stands in both books.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LineClass {
    Matched,
    /// We did not have it when the day was first compared. It is booked since.
    MissingHere,
    /// The bank does not have it.
    MissingThere,
    /// Both have it, and they disagree; or the bank could not say.
    Differing,
}

impl LineClass {
    pub const fn word(self) -> &'static str {
        match self {
            LineClass::Matched => "matched",
            LineClass::MissingHere => "missing_here",
            LineClass::MissingThere => "missing_there",
            LineClass::Differing => "differing",
        }
    }
}

/// One transaction of a day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparedLine {
    pub class: LineClass,
    /// What a person must look at.
    pub difference: Option<DifferenceKind>,
    /// The bank's id of the money.
    pub receipt_id: String,
    pub payment_id: Option<PaymentId>,
    /// The amount in our books, and in the bank's.
    pub ours: Option<Rupiah>,
    pub theirs: Option<Rupiah>,
    /// What we charge for the payment, and what the bank keeps where it says so.
    pub our_fee: Option<Rupiah>,
    pub bank_fee: Option<Rupiah>,
    pub paid_at: Option<Timestamp>,
}

/// A day of an account, compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    pub reconciliation: Reconciliation,
    pub lines: Vec<ComparedLine>,
}

impl Comparison {
    pub(in crate::banks) fn of(
        account_id: BankAccountId,
        day: i64,
        by: ComparedBy,
        (first_at, at): (Timestamp, Timestamp),
        lines: Vec<ComparedLine>,
    ) -> Comparison {
        let none = Tally::default();
        let mut reconciliation = Reconciliation {
            account_id,
            day,
            by,
            first_at,
            at,
            matched: none,
            missing_here: none,
            missing_there: none,
            differing: none,
            bank_fees: none,
        };
        for line in &lines {
            let tally = match line.class {
                LineClass::Matched => &mut reconciliation.matched,
                LineClass::MissingHere => &mut reconciliation.missing_here,
                LineClass::MissingThere => &mut reconciliation.missing_there,
                LineClass::Differing => &mut reconciliation.differing,
            };
            tally.add(line.theirs.or(line.ours).unwrap_or_default());
            if let Some(fee) = line.bank_fee {
                reconciliation.bank_fees.add(fee);
            }
        }
        Comparison { reconciliation, lines }
    }

    /// What a person must look at.
    pub(in crate::banks) fn differences(&self) -> impl Iterator<Item = Difference> {
        let Reconciliation { account_id, day, at, .. } = self.reconciliation;
        self.lines.iter().filter_map(move |line| {
            let kind = line.difference?;
            let (ours, theirs) = match kind {
                DifferenceKind::Fee => (line.our_fee, line.bank_fee),
                _ => (line.ours, line.theirs),
            };
            Some(Difference {
                key: DifferenceKey { account_id, subject: line.receipt_id.clone(), kind },
                day,
                payment_id: line.payment_id,
                ours,
                theirs,
                found_at: at,
                settled: None,
            })
        })
    }
}

/// How the bank is asked about the days of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::banks) struct Ways {
    pub(in crate::banks) by_report: bool,
    va_by_query: bool,
    qr_by_query: bool,
}

impl Ways {
    /// None if the bank issues no codes for us: where the numbers live here, it has nothing to tell.
    pub(in crate::banks) fn of(parameters: &Parameters) -> Option<Ways> {
        let has_va = parameters.codes.has_va() && parameters.hosting == Hosting::Theirs;
        let has_report = parameters.url(Service::Report).is_some();
        let (by_report, va_by_query) = (has_va && has_report, has_va && !has_report);
        let ways = Ways { by_report, va_by_query, qr_by_query: parameters.codes.has_qris() };
        (has_va || ways.qr_by_query).then_some(ways)
    }

    pub(in crate::banks) const fn asks_about(self, kind: CodeKind) -> bool {
        match kind {
            CodeKind::Va => self.va_by_query,
            CodeKind::Qr => self.qr_by_query,
        }
    }

    pub(in crate::banks) const fn asks_singly(self) -> bool {
        self.va_by_query || self.qr_by_query
    }

    /// Whether the report has all that the bank knows.
    pub(in crate::banks) const fn is_all_reported(self) -> bool {
        self.by_report && !self.asks_singly()
    }

    pub(in crate::banks) const fn word(self) -> ComparedBy {
        match (self.by_report, self.asks_singly()) {
            (true, false) => ComparedBy::Report,
            (true, true) => ComparedBy::ReportAndQuery,
            (false, _) => ComparedBy::Query,
        }
    }
}
