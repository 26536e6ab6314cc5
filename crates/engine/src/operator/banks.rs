//! What operators see and decide about banks: their accounts, the methods of projects, strays, and what
//! banks say otherwise than we do.

use domain::{
    bank_account::BankAccount,
    bank_difference::{Difference, DifferenceKey, Reconciliation},
    id::{BankAccountId, PaymentId, StrayId},
    method::Method,
    project::Project,
    stray::Stray,
};
use store::{Listed, OpenStrays, Window};

use super::Operator;
use crate::{BankAccountFile, BankHealth, Comparison, Error, MethodStanding, StrayFit};

impl Operator {
    /// All bank accounts, in the order of their creation.
    pub async fn bank_accounts(&self) -> Result<Vec<BankAccountFile>, Error> {
        self.engine.bank_accounts().await
    }

    pub async fn bank_account(&self, id: BankAccountId) -> Result<BankAccount, Error> {
        self.engine.bank_account(id).await
    }

    /// Everything that an operator may see of an account.
    pub async fn bank_account_file(&self, id: BankAccountId) -> Result<BankAccountFile, Error> {
        self.engine.bank_account_file(id).await
    }

    /// How the account's calls and the work about it stand.
    pub async fn bank_health(&self, file: &BankAccountFile) -> Result<BankHealth, Error> {
        self.engine.bank_health(file).await
    }

    /// Whether any money has come by this account.
    pub async fn has_bank_money(&self, id: BankAccountId) -> Result<bool, Error> {
        Ok(self.engine.store.has_money_of(&id.to_string()).await?)
    }

    pub async fn enable_bank_account(&self, id: BankAccountId, enabled: bool) -> Result<BankAccount, Error> {
        self.fresh_proof().await?;
        self.engine.enable_bank_account(id, enabled).await
    }

    /// How the methods of a production project stand: those that it offers, or that an account is assigned to.
    pub async fn method_standings(&self, project: &Project) -> Result<Vec<(Method, MethodStanding)>, Error> {
        self.engine.method_standings(project).await
    }

    /// Strays that nobody has decided about, or those that somebody has; newest first.
    pub async fn strays(&self, open: bool, window: Window) -> Result<Listed<Stray>, Error> {
        self.engine.strays(open, window).await
    }

    pub async fn open_strays(&self) -> Result<OpenStrays, Error> {
        self.engine.open_strays().await
    }

    pub async fn stray(&self, id: StrayId) -> Result<Stray, Error> {
        self.engine.stray(id).await
    }

    /// What would follow if the stray were assigned to this payment now.
    pub async fn stray_fit(&self, stray: &Stray, payment_id: PaymentId) -> Result<StrayFit, Error> {
        self.engine.stray_fit(stray, payment_id).await
    }

    pub async fn assign_stray(&self, id: StrayId, payment_id: PaymentId, note: String) -> Result<Stray, Error> {
        self.fresh_proof().await?;
        self.engine.assign_stray(id, payment_id, note).await
    }

    /// The latest comparisons of an account with its bank, newest day first.
    pub async fn reconciliations(&self, id: BankAccountId, most: i64) -> Result<Vec<Reconciliation>, Error> {
        self.engine.reconciliations(id, most).await
    }

    /// Whether days of the account can be compared with its bank.
    pub async fn is_comparable(&self, id: BankAccountId) -> Result<bool, Error> {
        self.engine.is_comparable(id).await
    }

    /// Compares a day of an account with its bank; none if that takes long, and goes on.
    pub async fn compare_bank_day(&self, id: BankAccountId, day: i64) -> Result<Option<Comparison>, Error> {
        self.engine.begin_comparison(id, day).await
    }

    /// What a person must look at, or what somebody has settled; newest first.
    pub async fn differences(&self, open: bool, window: Window) -> Result<Listed<Difference>, Error> {
        self.engine.differences(open, window).await
    }

    pub async fn open_differences(&self) -> Result<i64, Error> {
        self.engine.open_differences().await
    }

    pub async fn difference(&self, key: &DifferenceKey) -> Result<Difference, Error> {
        self.engine.difference(key).await
    }

    pub async fn settle_difference(&self, key: &DifferenceKey, note: String) -> Result<Difference, Error> {
        self.fresh_proof().await?;
        self.engine.settle_difference(key, note).await
    }

    pub async fn return_stray(&self, id: StrayId, note: String) -> Result<Stray, Error> {
        self.fresh_proof().await?;
        self.engine.return_stray(id, note).await
    }
}
