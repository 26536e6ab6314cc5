//! Account numbers that we give out ourselves, at banks where we host them. They are drawn at random, so that nobody
//! can guess the next one, and each rests after its payment before another payment gets it.

use std::sync::Arc;

use domain::{
    bank_account::number_rests_until,
    link::Link,
    method::Method,
    money::Rupiah,
    payment::Payment,
    pricing::Mispriced,
    project::{Environment, Project},
    rules::Invalid,
    time::Timestamp,
};
use gateway::snap::Hosting;
use rand::RngExt;
use store::BankWrite;

use super::open_account::OpenAccount;
use crate::{Engine, Error, NoBank};

/// How many numbers are looked at for a free one when the first drawn was taken.
const DRAWN_MOST: usize = 64;

/// What issues the code of a payment.
pub(crate) enum Issuer {
    /// The simulator, for the sandbox.
    Simulator,
    /// A bank account whose numbers we give out.
    Account(Arc<OpenAccount>),
    /// A bank that issues its codes itself, when we ask it.
    Bank(Arc<OpenAccount>),
}

/// Whether anything is there that can issue codes of this method for the project.
pub(crate) fn has_issuer(project: &Project, method: Method) -> bool {
    match project.environment {
        Environment::Sandbox => true,
        Environment::Production => project.account(method).is_some(),
    }
}

impl Engine {
    pub(crate) async fn issuer(&self, project: &Project, method: Method) -> Result<Issuer, Error> {
        if project.environment == Environment::Sandbox {
            return Ok(Issuer::Simulator);
        }
        let assigned = project.account(method).ok_or(NoBank::NotSetUp)?;
        let open = self.account_at(assigned.account_id, assigned.version).await?;
        let is_ours = method.bank().is_some() && open.parameters.hosting == Hosting::Ours;
        Ok(if is_ours { Issuer::Account(open) } else { Issuer::Bank(open) })
    }

    /// The bank that issues codes of this method for the project itself.
    pub(in crate::banks) async fn bank_issuer(
        &self,
        project: &Project,
        method: Method,
    ) -> Result<Arc<OpenAccount>, Error> {
        match self.issuer(project, method).await? {
            Issuer::Bank(open) => Ok(open),
            Issuer::Simulator | Issuer::Account(_) => Err(NoBank::NotSetUp.into()),
        }
    }

    /// A number that is free as far as is known. The commit decides; `tries` is how often that has failed.
    pub(crate) async fn free_number(&self, open: &OpenAccount, tries: usize) -> Result<String, Error> {
        if tries == 0 {
            return Ok(open.drawn_number());
        }
        let now = self.now();
        for _ in 0..DRAWN_MOST {
            let number = open.drawn_number();
            if !self.store.is_number_taken(open.id(), &number, now).await? {
                return Ok(number);
            }
        }
        tracing::error!(account = %open.id(), "nearly all numbers of a bank account are in use");
        Err(NoBank::Down.into())
    }
}

impl Issuer {
    /// Whether a bank is asked for each code, and would issue one more each time.
    pub(crate) fn is_asked(&self) -> bool {
        matches!(self, Issuer::Bank(_))
    }

    /// Whether the bank account takes this amount.
    pub(crate) fn takes(&self, amount: Rupiah) -> bool {
        match self {
            Issuer::Simulator => true,
            Issuer::Account(open) | Issuer::Bank(open) => open.parameters.amounts.contains(&amount),
        }
    }

    /// Whether it takes some amount that a payment of the link by this method can have.
    pub(crate) fn takes_of(&self, link: &Link, method: Method) -> bool {
        let amounts = link.pricing.amounts(link.amount);
        match self {
            Issuer::Simulator => true,
            Issuer::Account(open) | Issuer::Bank(open) => {
                let taken = &open.parameters.amounts;
                link.least_by(method) <= *taken.end() && amounts.end() >= taken.start()
            }
        }
    }

    /// Checks an amount that a customer has chosen against what the method and the bank account take.
    pub(crate) fn check_price(&self, method: Method, amount: Rupiah) -> Result<(), Mispriced> {
        let (mut least, mut most) = (method.kind().floor(), Rupiah::MAX);
        if let Issuer::Account(open) | Issuer::Bank(open) = self {
            least = least.max(*open.parameters.amounts.start());
            most = most.min(*open.parameters.amounts.end());
        }
        match () {
            () if amount < least => Err(Mispriced::TooLittle(least)),
            () if amount > most => Err(Mispriced::TooMuch(most)),
            () => Ok(()),
        }
    }

    /// Checks the limits of the bank account, which may be narrower than the method's.
    pub(crate) fn check(&self, amount: Rupiah, lifetime: std::time::Duration) -> Result<(), Invalid> {
        let (Issuer::Account(open) | Issuer::Bank(open)) = self else { return Ok(()) };
        let (amounts, validity) = (&open.parameters.amounts, &open.parameters.validity);
        if !self.takes(amount) {
            let (least, most) = (amounts.start().get(), amounts.end().get());
            return Err(Invalid::new("amount", format!("must be between {least} and {most} at this bank")));
        }
        if !validity.contains(&lifetime) {
            let (least, most) = (validity.start().as_secs().div_ceil(60), validity.end().as_secs() / 60);
            return Err(Invalid::new("expires_in_minutes", format!("must be between {least} and {most} at this bank")));
        }
        Ok(())
    }

    /// What gives the payment its number, where the number is ours.
    pub(crate) fn taken(&self, payment: &Payment, now: Timestamp) -> Option<BankWrite> {
        let Issuer::Account(open) = self else { return None };
        Some(BankWrite::NumberTaken {
            account_id: open.id(),
            number: payment.code.clone(),
            project_id: payment.terms.project_id,
            payment_id: payment.id,
            at: now,
            free_at: number_rests_until(payment.terms.expires_at),
        })
    }
}

impl OpenAccount {
    /// A number of this account that nobody can guess.
    pub(in crate::banks) fn drawn_number(&self) -> String {
        let mut rng = rand::rng();
        let digits: String =
            (0..self.parameters.customer_digits).map(|_| char::from(b'0' + rng.random_range(0..10_u8))).collect();
        self.parameters.number(&digits)
    }
}
