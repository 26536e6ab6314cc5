//! What a bank says about codes that it has issued: by a notification, when we ask, or in its report. Money is taken
//! already, so nothing is refused: it pays its payment, is held there, or is kept as a stray.

use domain::{
    bank_account::BankAccount,
    bank_difference::{Difference, DifferenceKey, DifferenceKind},
    bank_money::{MoneyMarks, PayableTime},
    bank_request::jakarta_day,
    hex::hex,
    id::PaymentId,
    method::MethodKind,
    opening::{BankCode, BankJob, JobKey, JobKind, MoneySource, Opening, OpeningState},
    payment::{Payment, State},
    receipt::{ReceiptKey, Unapplied},
    stray::{Stray, StrayReport},
    time::Timestamp,
};
use gateway::{
    Observation, Outcome,
    snap::{About, BankMoney, NotificationRead, Standing, Unreadable, minify},
};
use sha2::{Digest, Sha256};
use store::{BankWrite, BookedMoney, Change, CodeName, CommitError, Guard, OpeningWrite, PaymentWrite};

use super::money_key::{KnownMoney, MoneyKey, ToldOf};
use crate::{
    DECIDE_MOST, Engine, Error,
    banks::{
        contracts::open_account::OpenAccount,
        outbound::{
            conclude::next_look,
            rows::{issue_key, job, job_done, name_given},
        },
    },
    observe::{Money, PaymentMove},
};

/// What the ids of notices begin with that cannot be read.
const UNREADABLE: &str = "unreadable:";

impl Engine {
    /// Takes what a bank tells us. What cannot be relied on only makes us ask. `body` is the notice as it came: it is kept where it
    /// tells of money that cannot be read, and the bank cannot be asked, or has written what nobody can read.
    pub async fn record_notification(
        &self,
        open: &OpenAccount,
        heard: NotificationRead,
        body: &str,
        is_reliable: bool,
    ) -> Result<(), Error> {
        let code = match self.code_about(open, &heard.about).await? {
            Some(code) => Some(self.learn_names(code, &heard.about, is_reliable).await?),
            None => None,
        };
        if let Some(unreadable) = heard.unreadable
            && is_reliable
        {
            if code.is_none() || unreadable == Unreadable::Malformed {
                self.keep_unreadable(open, &heard.about, body).await?;
            }
            return match code {
                Some(code) => self.ask_about(&code).await,
                None => Ok(()),
            };
        }
        match (heard.standing, code) {
            (Standing::Paid(money), code) if is_reliable => {
                let source = MoneySource::Notification;
                self.record_money(&open.account, code.as_ref(), &heard.about, money, source).await
            }
            (standing @ Standing::Ended, Some(code)) if is_reliable => self.record_standing(&code, &standing).await,
            (standing @ Standing::Processing, Some(code)) if is_reliable => {
                self.record_standing(&code, &standing).await?;
                self.ask_about(&code).await
            }
            (_, Some(code)) => self.ask_about(&code).await,
            (_, None) => {
                tracing::warn!(account = %open.id(), "a bank told of a code that we have not asked for");
                Ok(())
            }
        }
    }

    /// Keeps a notice of money that cannot be read, once however often it comes.
    async fn keep_unreadable(&self, open: &OpenAccount, about: &About, body: &str) -> Result<(), Error> {
        let now = self.now();
        // The same notice may be written with other white space when it is sent again.
        let digest = hex(&Sha256::digest(minify(body.as_bytes())));
        let (receipt_id, report) = (format!("{UNREADABLE}{digest}"), StrayReport::Unreadable { body: body.to_owned() });
        let stray = Stray::received(self.mint(now), open.id(), receipt_id, name_given(about), report, now);
        match self.store.commit(BankWrite::StrayReceived(stray).into()).await {
            Ok(()) => Ok(()),
            Err(CommitError::Conflict(Guard::Receipt)) => Ok(self.store.confirm().await?),
            Err(error) => Err(error.into()),
        }
    }

    /// Asks the bank about a code as soon as possible.
    async fn ask_about(&self, code: &BankCode) -> Result<(), Error> {
        self.store.commit(OpeningWrite::JobQueued(job(JobKind::Query, code, self.now())).into()).await?;
        Ok(())
    }

    pub(in crate::banks) async fn code_about(
        &self,
        open: &OpenAccount,
        about: &About,
    ) -> Result<Option<BankCode>, Error> {
        let names = [
            about.reference.as_deref().map(CodeName::Reference),
            about.bank_reference.as_deref().map(CodeName::BankReference),
            about.number.as_deref().map(CodeName::Number),
        ];
        for name in names.into_iter().flatten() {
            if let Some(code) = self.store.bank_code(open.id(), name).await? {
                return Ok(Some(code));
            }
        }
        Ok(None)
    }

    /// Stores what the bank calls a code, where we have not read its answer: some banks are asked by their name alone. What
    /// cannot be relied on teaches that name only, by which nothing but a question is decided; a number is shown to people.
    async fn learn_names(&self, code: BankCode, about: &About, is_reliable: bool) -> Result<BankCode, Error> {
        let bank_reference = about.bank_reference.clone().filter(|_| code.bank_reference.is_none());
        let number = match &about.number {
            Some(number) if code.number.is_none() && is_reliable => {
                let taken = self.store.bank_code(code.account_id, CodeName::Number(number)).await?;
                taken.is_none().then(|| number.clone())
            }
            _ => None,
        };
        if bank_reference.is_none() && number.is_none() {
            return Ok(code);
        }
        let write = OpeningWrite::CodeTold {
            account_id: code.account_id,
            reference: code.reference.clone(),
            bank_reference: bank_reference.clone(),
            number: number.clone(),
        };
        self.store.commit(write.into()).await?;
        Ok(BankCode { bank_reference: bank_reference.or(code.bank_reference), number: number.or(code.number), ..code })
    }

    /// A notice without money about a code: its payment is being paid, or cannot be paid any more.
    pub(in crate::banks) async fn record_standing(&self, code: &BankCode, standing: &Standing) -> Result<(), Error> {
        let opening = self.store.opening(code.opening_id).await?.ok_or(Error::NotFound("opening"))?;
        let (Some(payment_id), outcome, word) = (match standing {
            Standing::Processing => (opening.payment_id(), Outcome::Processing, "processing"),
            _ => (opening.payment_id(), Outcome::Failed, "failed"),
        }) else {
            return Ok(());
        };
        // Another code of the same payment may be payable still.
        if outcome == Outcome::Failed && code.generation != opening.generation {
            return Ok(());
        }
        let receipt = ReceiptKey { provider: code.account_id.to_string(), id: format!("{} {word}", code.reference) };
        self.observe(Observation { receipt, payment_id, outcome }).await?;
        Ok(())
    }

    /// Money that is booked is told again. What the bank says more of it than before is kept, since it tells it from other money.
    /// That the bank knows another amount now is for a person to look at.
    async fn record_repeat(&self, told: &ToldOf<'_>, key: MoneyKey, known: KnownMoney) -> Result<(), Error> {
        let (MoneyKey { key: receipt, bank_id, named_from, marks, .. }, booked) = (key, known.money);
        // Times of two notifications are compared to the second, and others are not.
        let paid_at = marks.paid_at.filter(|_| told.source == MoneySource::Notification);
        let marks = MoneyMarks { paid_at, ..marks };
        let says_more = known.marks.is_some_and(|before| before.lacks(&marks));
        let notified = paid_at.filter(|_| known.awaits_notification);
        let difference = self.difference_from(told, &receipt, &booked).await?;
        let writes = [
            says_more.then(|| OpeningWrite::MoneyMarked { receipt: receipt.clone(), marks }),
            notified.map(|paid_at| OpeningWrite::MoneyNotified { receipt: receipt.clone(), paid_at }),
            named_from.map(|from| OpeningWrite::MoneyNamed { receipt, from, bank_id }),
            difference.map(OpeningWrite::DifferenceFound),
        ];
        let writes: Vec<OpeningWrite> = writes.into_iter().flatten().collect();
        if !writes.is_empty() {
            self.store.commit(Change::default().with_all(writes)).await?;
        }
        // A difference that is there already is not written again, and the bank is told that its money is booked.
        Ok(self.store.confirm().await?)
    }

    /// What a person should look at when the bank tells again of booked money: that it knows another amount, or that it calls the
    /// number paid, without an amount, while all that has come for it is held.
    async fn difference_from(
        &self,
        told: &ToldOf<'_>,
        receipt: &ReceiptKey,
        booked: &BookedMoney,
    ) -> Result<Option<Difference>, Error> {
        let Some(payment_id) = booked.payment_id else { return Ok(None) };
        let theirs = Some(told.money.amount).filter(|_| !told.money.marks.lacks_amount);
        let is_clear = match theirs {
            Some(theirs) => theirs == booked.amount,
            None => matches!(self.known_payment(payment_id).await?.state, State::Paid { .. }),
        };
        Ok((!is_clear).then(|| Difference {
            key: DifferenceKey {
                account_id: told.account_id,
                subject: receipt.id.clone(),
                kind: DifferenceKind::Amount,
            },
            day: jakarta_day(booked.paid_at),
            payment_id: booked.payment_id,
            ours: Some(booked.amount),
            theirs,
            found_at: self.now(),
            settled: None,
        }))
    }

    /// Books money that a bank has taken, once. `about` is what the bank has named. Where the bank has used its id for money of
    /// something else, the money is held for a person to decide.
    pub(in crate::banks) async fn record_money(
        &self,
        account: &BankAccount,
        code: Option<&BankCode>,
        about: &About,
        money: BankMoney,
        source: MoneySource,
    ) -> Result<(), Error> {
        for _ in 0..DECIDE_MOST {
            let told = ToldOf { account_id: account.id, code, about, money: &money, source };
            // Read first: what comes for it from now on changes its version.
            let opening = match code {
                Some(code) => Some(self.store.opening(code.opening_id).await?.ok_or(Error::NotFound("opening"))?),
                None => None,
            };
            let mut key = self.money_key(&told).await?;
            if let Some(known) = key.booked.take() {
                match self.record_repeat(&told, key, known).await {
                    // Another message has named it meanwhile, or was the first notification about it.
                    Err(Error::UnexpectedConflict(CommitError::Conflict(Guard::Receipt))) => continue,
                    outcome => return outcome,
                }
            }
            let MoneyKey { key: receipt, bank_id, reused, marks, .. } = key;
            let now = self.now();
            let booked = match code.zip(opening) {
                Some((code, opening)) => self.booking_of((&receipt, reused), (code, opening), &money, now).await?,
                None => None,
            };
            let change = match booked {
                Some(change) => change,
                None => {
                    let report = StrayReport::Money { amount: money.amount, paid_at: money.paid_at };
                    let (receipt_id, number) = (receipt.id.clone(), name_given(about));
                    let stray = Stray::received(self.mint(now), account.id, receipt_id, number, report, now);
                    BankWrite::StrayReceived(stray).into()
                }
            };
            let (amount, paid_at) = (money.amount, money.paid_at.unwrap_or(now));
            let received = OpeningWrite::MoneyTold { receipt, bank_id, marks, source, amount, paid_at, at: now };
            match self.store.commit(Change::from(received).then(change)).await {
                Ok(()) => return Ok(()),
                Err(CommitError::Conflict(
                    Guard::Receipt
                    | Guard::PaymentVersion
                    | Guard::LinkUnclaimed
                    | Guard::OpeningVersion
                    | Guard::AccountNumber,
                )) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Contended)
    }

    /// What books the money for the payment of its code; none if there is no payment and the money makes none.
    async fn booking_of(
        &self,
        (receipt, reused): (&ReceiptKey, bool),
        (code, opening): (&BankCode, Opening),
        money: &BankMoney,
        now: Timestamp,
    ) -> Result<Option<Change>, Error> {
        if let Some(id) = opening.payment_id() {
            let payment = self.known_payment(id).await?;
            let project = self.project_of(&payment).await?;
            let money = Money { reused, ..money_of(money, code, payment.terms.expires_at, now) };
            let PaymentMove { change, moved } = self.on_money(receipt, &payment, &project, money).await?;
            // Of a number, the same money may be told with and without an id at once, and so under two keys.
            let is_account = opening.terms.method.kind() == MethodKind::VirtualAccount;
            let came = is_account.then_some(OpeningWrite::MoneyCame { id: opening.id, version: opening.version });
            return Ok(Some(change.with_all(after_money(&opening, code, id, moved.err(), now)).with_all(came)));
        }
        let payment = made_by_money(self.mint(now), &opening, code, now);
        let project = self.project_of(&payment).await?;
        let money = Money { reused, ..money_of(money, code, payment.terms.expires_at, now) };
        let PaymentMove { change, moved } = self.on_money(receipt, &payment, &project, money).await?;
        let unapplied = moved.err();
        let can_stand = payment.state != State::Pending || !payment.code.is_empty();
        if unapplied.is_some() && !can_stand {
            return Ok(None);
        }
        let opened = OpeningWrite::Paid { id: opening.id, version: opening.version, payment_id: payment.id };
        let after = after_money(&opening, code, payment.id, unapplied, now);
        // A payment that waits for more money expires like any other.
        let query = match unapplied.is_some() && payment.state == State::Pending {
            true => {
                let parameters = &self.open_account(opening.account_id).await?.parameters;
                let due_at = Some(next_look(parameters, opening.terms.expires_at, now));
                Some(OpeningWrite::JobQueued(BankJob { due_at, ..job(JobKind::Query, code, now) }))
            }
            false => None,
        };
        let made = Change::from(PaymentWrite::CreatedAtBank { payment }).with(opened).then(change);
        Ok(Some(made.with(job_done(&issue_key(code), "paid")).with_all(after).with_all(query)))
    }
}

/// What follows at the bank when money has paid a payment: nobody asks about its code any more, and where it was an earlier
/// code of the opening, nobody may pay the latest one.
fn after_money(
    opening: &Opening,
    code: &BankCode,
    payment_id: PaymentId,
    unapplied: Option<Unapplied>,
    now: Timestamp,
) -> Vec<OpeningWrite> {
    if unapplied.is_some() {
        return Vec::new();
    }
    let query = JobKey { kind: JobKind::Query, ..issue_key(code) };
    let void = OpeningWrite::VoidQueued { payment_id, at: now };
    let is_latest = code.generation == opening.generation;
    std::iter::once(job_done(&query, "paid")).chain((!is_latest).then_some(void)).collect()
}

/// The payment of an opening whose code we never got: money has come for it all the same.
fn made_by_money(id: PaymentId, opening: &Opening, code: &BankCode, now: Timestamp) -> Payment {
    let payment = opening.payment(id, code.number.clone().unwrap_or_default(), now);
    match opening.state {
        OpeningState::Abandoned { at } => Payment { state: State::Cancelled { at }, ..payment },
        OpeningState::Open | OpeningState::Refused { .. } | OpeningState::Issued { .. } => payment,
    }
}

/// The money that a bank has told us of. Where the bank does not say when it was paid, it is paid now.
fn money_of(money: &BankMoney, code: &BankCode, expires_at: Timestamp, now: Timestamp) -> Money {
    let payable = PayableTime { from: code.asked_at, expires_at };
    let paid_at = payable.paid_at(money.paid_at.unwrap_or(now), now);
    Money { amount: money.amount, paid_at, reused: false }
}
