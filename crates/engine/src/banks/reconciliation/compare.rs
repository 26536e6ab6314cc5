//! Comparing one day: the bank's report, or its word about each code, against the money that we have booked. Money that
//! we did not know of is booked at once.

use std::collections::HashMap;

use domain::{
    bank_difference::DifferenceKind,
    bank_request::jakarta_day_begin,
    opening::{BankCode, MoneySource, Opening},
    receipt::ReceiptKey,
    time::Timestamp,
};
use futures_util::future::join_all;
use gateway::snap::{About, BankMoney, CallError, ReportLine, Service, Standing};
use store::{After, OpeningWrite, ToldMoney};

use super::comparison::{ComparedLine, LineClass, Ways};
use crate::{
    Engine, Error,
    bank_error::BankError,
    banks::{
        contracts::open_account::OpenAccount,
        inbound::money_key::{MoneyKey, ToldOf},
        memory::unfinished::Findings,
        outbound::{
            line::answer_code,
            rows::{answer_write, code_kind, our_name},
        },
    },
};

/// Calls to one bank that run at once.
const CALLS_AT_ONCE: usize = 8;
/// A report is asked for by the hour.
const HOURS: u8 = 24;
/// Rows of one read; and lines of a report, or codes that are asked about, after which the lease is renewed.
const ROWS_AT_ONCE: i64 = 500;
const LINES_AT_ONCE: usize = 500;
const CODES_AT_ONCE: usize = 64;
/// Transactions of one day.
pub(in crate::banks) const LINES_MOST: usize = 100_000;

/// What the bank says about a code, where it says anything.
enum Word {
    Said(Standing),
    /// It does not answer this question.
    Refused,
}

/// A code, with what the bank answered when it was asked about it.
struct CodeWord {
    code: BankCode,
    opening: Opening,
    word: Word,
}

/// The comparing of one day.
pub(in crate::banks) struct Run<'a> {
    pub(in crate::banks) engine: &'a Engine,
    pub(in crate::banks) open: &'a OpenAccount,
    pub(in crate::banks) ways: Ways,
    pub(in crate::banks) day: i64,
    /// When somebody first compared this day, whether or not they got to its end. Money of which the bank told us after that was
    /// missing here.
    pub(in crate::banks) compared_before: Option<Timestamp>,
    /// The end of this node's lease.
    pub(in crate::banks) leased_until: Timestamp,
    /// What was found, before this run too.
    pub(in crate::banks) found: Findings,
    /// The money of the day that we have booked and the bank has not spoken of yet.
    ours: HashMap<String, ToldMoney>,
    /// The references of codes that were asked about, with what the bank said unless it was money.
    asked: HashMap<String, Option<DifferenceKind>>,
}

impl<'a> Run<'a> {
    pub(in crate::banks) fn new(
        engine: &'a Engine,
        open: &'a OpenAccount,
        ways: Ways,
        day: i64,
        found: Findings,
        (compared_before, leased_until): (Option<Timestamp>, Timestamp),
    ) -> Run<'a> {
        let (ours, asked) = (HashMap::new(), HashMap::new());
        Run { engine, open, ways, day, compared_before, leased_until, found, ours, asked }
    }

    /// Compares the whole day.
    pub(in crate::banks) async fn compare(&mut self) -> Result<Vec<ComparedLine>, Error> {
        self.read_ours().await?;
        if self.ways.by_report {
            self.by_report().await?;
        }
        if self.ways.asks_singly() {
            self.by_query().await?;
        }
        self.judge_unspoken().await?;
        let mut lines = std::mem::take(&mut self.found.lines);
        lines.sort_by(|one, other| (one.paid_at, &one.receipt_id).cmp(&(other.paid_at, &other.receipt_id)));
        Ok(lines)
    }

    fn begin(&self) -> Timestamp {
        jakarta_day_begin(self.day)
    }

    fn end(&self) -> Timestamp {
        jakarta_day_begin(self.day + 1)
    }

    async fn read_ours(&mut self) -> Result<(), Error> {
        let mut after = After { at: self.begin(), text: String::new(), most: ROWS_AT_ONCE };
        loop {
            let page = self.engine.store.told_money(self.open.id(), after, self.end()).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = After { at: last.paid_at, text: last.receipt_id.clone(), most: ROWS_AT_ONCE };
            let unjudged = page.into_iter().filter(|told| !self.found.seen.contains(&told.receipt_id));
            self.ours.extend(unjudged.map(|told| (told.receipt_id.clone(), told)));
            self.check_size()?;
        }
    }

    fn check_size(&self) -> Result<(), BankError> {
        let is_too_much = self.ours.len().max(self.found.lines.len()).max(self.asked.len()) > LINES_MOST;
        if is_too_much { Err(BankError::CompareTooMuch(LINES_MOST)) } else { Ok(()) }
    }

    async fn by_report(&mut self) -> Result<(), Error> {
        let (engine, open, day) = (self.engine, self.open, self.day);
        let parts = called((0..HOURS).map(|hour| engine.report_hour(open, day, hour))).await?;
        for (index, line) in parts.into_iter().flatten().enumerate() {
            if index.is_multiple_of(LINES_AT_ONCE) {
                self.renew().await?;
            }
            let code = engine.code_about(open, &line.about).await?;
            let paid_at = line.money.paid_at;
            let told = self.book_if_new(code.as_ref(), &line.about, line.money, MoneySource::Report).await?;
            let Some((told, class, amount)) = told else { continue };
            let excess = told.payment.is_some_and(|payment| line.fee > Some(payment.fee));
            let difference = match (amount == told.amount, excess) {
                (false, _) => Some(DifferenceKind::Amount),
                (true, true) => Some(DifferenceKind::Fee),
                (true, false) => None,
            };
            let class = class_with(class, difference);
            self.found.lines.push(ComparedLine {
                theirs: Some(amount),
                bank_fee: line.fee,
                paid_at: paid_at.or(Some(told.paid_at)),
                ..line_of(&told, class, difference)
            });
            self.check_size()?;
        }
        Ok(())
    }

    /// Books the bank's money if it is new, and says how it stood; none if the bank has spoken of it before.
    async fn book_if_new(
        &mut self,
        code: Option<&BankCode>,
        about: &About,
        money: BankMoney,
        source: MoneySource,
    ) -> Result<Option<(ToldMoney, LineClass, domain::money::Rupiah)>, Error> {
        let (engine, id, amount) = (self.engine, self.open.id(), money.amount);
        let lacks_amount = money.marks.lacks_amount;
        let told = ToldOf { account_id: id, code, about, money: &money, source };
        let MoneyKey { key: ReceiptKey { id: receipt_id, .. }, named_from, .. } = engine.money_key(&told).await?;
        if named_from.is_some() {
            engine.record_money(&self.open.account, code, about, money.clone(), source).await?;
        }
        if self.found.seen.contains(&receipt_id) {
            return Ok(None);
        }
        let known = match self.ours.remove(&receipt_id) {
            Some(told) => Some(told),
            None => engine.store.told_receipt(id, &receipt_id).await?,
        };
        let (told, is_new) = match known {
            Some(told) => {
                let is_new = self.compared_before.is_some_and(|first| told.told_at >= first);
                (told, is_new)
            }
            None => {
                engine.record_money(&self.open.account, code, about, money, source).await?;
                match engine.store.told_receipt(id, &receipt_id).await? {
                    Some(told) => (told, true),
                    // The bank has asked us to take it, while the numbers lived here: there is nothing to compare.
                    None => return Ok(None),
                }
            }
        };
        // From here to its line nothing is waited for: a run that is cut off has both or neither.
        self.found.seen.insert(receipt_id);
        let amount = if lacks_amount { told.amount } else { amount };
        Ok(Some((told, if is_new { LineClass::MissingHere } else { LineClass::Matched }, amount)))
    }

    /// Asks about every code that could be paid on that day, or was.
    async fn by_query(&mut self) -> Result<(), Error> {
        let longest = *self.open.parameters.validity.end();
        let first = || (self.begin().minus(longest), String::new());
        let (at, text) = self.found.asked_upto.clone().unwrap_or_else(first);
        let mut after = After { at, text, most: ROWS_AT_ONCE };
        loop {
            let (from, until) = (self.begin(), self.end());
            let page = self.engine.store.codes_between(self.open.id(), after, from, until).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = After { at: last.asked_at, text: last.reference.clone(), most: ROWS_AT_ONCE };
            for codes in page.chunks(CODES_AT_ONCE) {
                self.ask(codes.to_vec(), Some(self.ways)).await?;
                self.found.asked_upto = codes.last().map(|last| (last.asked_at, last.reference.clone()));
            }
        }
    }

    /// Asks about codes, and takes what the bank says about their money. `only` leaves out those that the report tells of.
    async fn ask(&mut self, codes: Vec<BankCode>, only: Option<Ways>) -> Result<(), Error> {
        let (engine, open) = (self.engine, self.open);
        let is_new = |code: &BankCode| !self.asked.contains_key(&code.reference);
        let fresh: Vec<BankCode> = codes.into_iter().filter(is_new).collect();
        let asked = called(fresh.into_iter().map(|code| engine.ask_about_day(open, only, code))).await?;
        self.renew().await?;
        for CodeWord { code, opening, word } in asked.into_iter().flatten() {
            let otherwise = match word {
                Word::Said(Standing::Paid(money)) => {
                    self.take_answer(&code, money).await?;
                    None
                }
                Word::Said(Standing::Refunded) => {
                    self.note_refund(&code, &opening);
                    Some(DifferenceKind::Refunded)
                }
                Word::Said(Standing::Processing | Standing::AskAgain) | Word::Refused => {
                    Some(DifferenceKind::Unanswered)
                }
                Word::Said(Standing::NotFound | Standing::Unpaid { .. } | Standing::Ended) => {
                    Some(DifferenceKind::MissingThere)
                }
            };
            self.asked.insert(code.reference, otherwise);
            self.check_size()?;
        }
        Ok(())
    }

    /// Money that came and went without our having booked it.
    fn note_refund(&mut self, code: &BankCode, opening: &Opening) {
        let is_booked = |told: &ToldMoney| told.payment.map(|payment| payment.id) == opening.payment_id();
        if opening.payment_id().is_some() && self.ours.values().any(is_booked) {
            return;
        }
        // A run that was cut off has asked about it before.
        if self.found.lines.iter().any(|line| line.receipt_id == code.reference) {
            return;
        }
        self.found.lines.push(ComparedLine {
            class: LineClass::Differing,
            difference: Some(DifferenceKind::Refunded),
            receipt_id: code.reference.clone(),
            payment_id: opening.payment_id(),
            ours: Some(opening.terms.amount),
            theirs: None,
            our_fee: None,
            bank_fee: None,
            paid_at: None,
        });
    }

    /// Money that the bank speaks of when it is asked about its code. It is listed on the day on which it was paid.
    async fn take_answer(&mut self, code: &BankCode, money: BankMoney) -> Result<(), Error> {
        let paid_at = money.paid_at;
        let told = self.book_if_new(Some(code), &our_name(code), money, MoneySource::Query).await?;
        let Some((told, class, amount)) = told else { return Ok(()) };
        let paid_at = paid_at.unwrap_or(told.paid_at);
        if paid_at < self.begin() || paid_at >= self.end() {
            return Ok(());
        }
        let difference = (amount != told.amount).then_some(DifferenceKind::Amount);
        let class = class_with(class, difference);
        let line = ComparedLine { theirs: Some(amount), paid_at: Some(paid_at), ..line_of(&told, class, difference) };
        self.found.lines.push(line);
        Ok(())
    }

    /// What we have booked and the bank has not spoken of: it is asked about every code of the payment before a person is.
    async fn judge_unspoken(&mut self) -> Result<(), Error> {
        let mut left: Vec<ToldMoney> = self.ours.values().cloned().collect();
        left.sort_by(|one, other| one.receipt_id.cmp(&other.receipt_id));
        for some in left.chunks(CODES_AT_ONCE) {
            let mut codes = Vec::new();
            for told in some {
                codes.push(self.codes_of(told).await?);
            }
            self.ask(codes.concat(), None).await?;
            for (told, codes) in some.iter().zip(codes) {
                if !self.found.seen.contains(&told.receipt_id) {
                    self.judge(told, &codes);
                }
            }
        }
        Ok(())
    }

    async fn codes_of(&self, told: &ToldMoney) -> Result<Vec<BankCode>, Error> {
        let store = &self.engine.store;
        let opening = match told.payment {
            Some(payment) => store.opening_of_payment(payment.id).await?,
            None => None,
        };
        let codes = match opening {
            Some(opening) => store.codes_of_opening(opening.id).await?,
            None => Vec::new(),
        };
        Ok(codes.into_iter().filter(|code| code.account_id == self.open.id()).collect())
    }

    fn judge(&mut self, told: &ToldMoney, codes: &[BankCode]) {
        let words: Vec<DifferenceKind> =
            codes.iter().filter_map(|code| self.asked.get(&code.reference).copied().flatten()).collect();
        let is_said = |kind| words.contains(&kind);
        let kind = match () {
            // Money without a code can be looked for in a report alone, and only if all money is there.
            () if codes.is_empty() && !self.ways.is_all_reported() => return,
            () if is_said(DifferenceKind::Refunded) => DifferenceKind::Refunded,
            () if is_said(DifferenceKind::Unanswered) => DifferenceKind::Unanswered,
            () => DifferenceKind::MissingThere,
        };
        let class = match kind {
            DifferenceKind::MissingThere => LineClass::MissingThere,
            _ => LineClass::Differing,
        };
        self.found.lines.push(line_of(told, class, Some(kind)));
        self.found.seen.insert(told.receipt_id.clone());
    }

    /// Keeps the lease, unless another node has taken it over.
    async fn renew(&mut self) -> Result<(), Error> {
        self.leased_until = self.engine.renew_comparison(self.open.id(), self.leased_until).await?;
        Ok(())
    }
}

impl Engine {
    /// One hour of the bank's report; once more with a new token if the bank has refused ours.
    async fn report_hour(&self, open: &OpenAccount, day: i64, hour: u8) -> Result<Vec<ReportLine>, Error> {
        for last in [false, true] {
            let send = self.stored_send_without_code(open, Service::Report, self.now()).await?;
            let outgoing = open.outgoing()?;
            let call = self.dial(open, outgoing).await.map_err(BankError::CompareFailed)?;
            let result = call.client.report(&call.context(open, outgoing, &send.external_id), day, hour).await;
            self.hang_up(call, open, Service::Report, &result);
            let write: OpeningWrite = answer_write(&send, answer_code(Service::Report, &result), self.now());
            self.store.commit(write.into()).await?;
            match result {
                Ok(lines) => return Ok(lines),
                Err(CallError::TokenRefused(_)) if !last => {}
                Err(error) => return Err(BankError::CompareFailed(error).into()),
            }
        }
        Err(Error::Contended)
    }

    /// Asks about one code; none if it is of a kind that is not compared so.
    async fn ask_about_day(
        &self,
        open: &OpenAccount,
        only: Option<Ways>,
        code: BankCode,
    ) -> Result<Option<CodeWord>, Error> {
        let opening = self.store.opening(code.opening_id).await?.ok_or(Error::NotFound("opening"))?;
        if only.is_some_and(|ways| !ways.asks_about(code_kind(opening.terms.method))) {
            return Ok(None);
        }
        let word = match self.query_code(open, &opening, &code).await? {
            Ok(standing) => Word::Said(standing),
            Err(CallError::Refused { .. }) => Word::Refused,
            Err(error) => return Err(BankError::CompareFailed(error).into()),
        };
        Ok(Some(CodeWord { code, opening, word }))
    }
}

/// Makes calls: the first alone, since a bank that has failed before is tried by a single one, and the others some at once.
/// Those that were begun are waited for, and after a failure none is begun.
async fn called<T, F>(mut calls: impl Iterator<Item = F>) -> Result<Vec<T>, Error>
where
    F: Future<Output = Result<T, Error>>,
{
    let mut answers = Vec::new();
    let mut at_once = 1;
    loop {
        let some: Vec<F> = calls.by_ref().take(at_once).collect();
        if some.is_empty() {
            return Ok(answers);
        }
        for answer in join_all(some).await {
            answers.push(answer?);
        }
        at_once = CALLS_AT_ONCE;
    }
}

fn line_of(told: &ToldMoney, class: LineClass, difference: Option<DifferenceKind>) -> ComparedLine {
    ComparedLine {
        class,
        difference,
        receipt_id: told.receipt_id.clone(),
        payment_id: told.payment.map(|payment| payment.id),
        ours: Some(told.amount),
        theirs: None,
        our_fee: told.payment.map(|payment| payment.fee),
        bank_fee: None,
        paid_at: Some(told.paid_at),
    }
}

/// Money that is in both books can differ there; what is new in ours has the bank's amount, and differs by its fee at most.
fn class_with(class: LineClass, difference: Option<DifferenceKind>) -> LineClass {
    match (difference, class) {
        (Some(DifferenceKind::Amount), _) | (Some(_), LineClass::Matched) => LineClass::Differing,
        _ => class,
    }
}
