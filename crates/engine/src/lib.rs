//! The use cases of the service, and the reconcilers, which do what becomes due as time passes.
//!
//! A use case reads, lets pure domain code decide, and commits one change. Nothing here knows HTTP, templates or SQL.

pub mod addresses;
mod audit;
mod audit_chain;
mod balance;
mod bank_error;
mod banks;
mod besides;
mod blocking_work;
mod change_tokens;
mod checkout;
mod clock;
mod counter;
mod deliveries;
mod desk;
mod error;
mod events;
mod forms;
mod frames;
mod fresh_proof;
mod invites;
mod key_rotation;
mod key_uses;
mod keys;
mod known_browsers;
mod links;
mod logos;
mod lost_passwords;
mod low_priority;
mod mail;
mod memory;
mod observe;
mod operator;
mod page_views;
mod passwords;
mod payments;
mod pending_sign_ins;
mod people;
mod projects;
mod receipts;
mod reconcile;
mod refunds;
#[cfg(test)]
mod samples;
mod second_factor;
mod secrets;
mod sign_in;
mod sign_in_codes;
mod sign_in_tickets;
mod simulate;
mod users;
mod vault;
mod watch;

use std::{sync::Arc, time::Duration};

use domain::{
    attempt_limits::AttemptLimits,
    audit::Actor,
    fee::FeeSchedule,
    id::{self, ENTROPY_BYTES},
    method::MethodKind,
    project::{Environment, Project},
    time::{DAY, Timestamp},
};
use gateway::{Lookups, Simulator};
use ipnet::IpNet;
use memory::{
    audited_refusals::AuditedRefusals, beats::Beats, change_tokens::ChangeTokens, key_uses::KeyUses,
    logo_reading::LogoReading, mail::MailRoom, page_views::PageViews, project_cache::ProjectCache,
    recent_keys::RecentKeys, watchers::Watchers,
};
use rand::{Rng, RngExt};
use store::{NodeId, Store};
use type_safe_id::{StaticType, TypeSafeId};

pub use audit::Audited;
pub use balance::BalanceAt;
pub use bank_error::{BankError, Missing};
pub use banks::{
    BankAccountFile, BankDoor, BankHealth, BankStory, BankTest, Bill, CallGroup, ComparedLine, Comparison,
    FailingCalls, InboundClient, Inquiry, InquiryAnswer, LineClass, MethodStanding, NUMBERS_LOW_PERCENT,
    NewBankAccount, NewInbound, NumbersTaken, OpenAccount, PaymentAsked, StrayFit, TOKEN_LIFETIME, Taken, TestStep,
    UncertainTerms, needs_of_profile,
};
pub use blocking_work::{BlockingWork, Turn, WorkError, half_of_the_cores};
pub use checkout::{Attempt, LinkPage, PaymentPage};
pub use clock::{Clock, SystemClock};
pub use counter::Counter;
pub use desk::{
    Approval, CustomerFile, DECISIONS_MOST, Day, Desk, FoundCustomer, Home, Jump, KeyShown, ListedRefund, NamedParty,
    OpenClaim, PaymentFile, ReadyTransfers, RefundFile, RefundOutlook, RefundSum, RefundsWaiting, SearchResults,
    Sending, Sent,
};
pub use domain::refund::request::RefundRequest;
pub use error::{Error, NoBank};
pub use gateway::{BlockedAddress, Outcome, USER_AGENT};
pub use invites::Invitation;
pub use key_rotation::RotatedKey;
pub use keys::{KeyOwner, NewKey};
pub use logos::NewLogo;
pub use lost_passwords::{FORGOT, RESETS, ResetAsked, ResetLink};
pub use mail::{NoticeSettings, ShownLetter, ShownNoticeTarget};
pub use memory::{
    mail::{Mail, Notices, OperatorUrl},
    watchers::{TooManyWatchers, WATCHERS_MOST},
};
pub use observe::Observed;
pub use operator::{Operator, WaitingRefund};
pub use passwords::HashError;
pub use payments::Created;
pub use pending_sign_ins::PENDING_LIFETIME;
pub use people::{NewUser, Visit};
pub use picture::logo::LogoError;
pub use projects::{NewProject, ProjectUpdate};
pub use receipts::ReceiptFit;
pub use reconcile::{Courier, Reconcilers};
pub use refunds::{AccountAnswer, BatchedTransfer, ClaimPage, RefundOutcome, UncertainRefund};
pub use second_factor::FactorState;
pub use secrets::{Rotation, SecretsFound, UnopenedSecret};
pub use sign_in::{NewSession, SignIn, Whereabouts};
pub use sign_in_codes::CodeAnswer;
pub use sign_in_tickets::TICKET_LIFETIME;
pub use store::{
    AuditFilter, BankCall, Breach, CustomerSums, DeliveryFilter, EventFilter, EventLogFilter, FAILING_COUNTED,
    FailingDeliveries, FailingSince, HeldReceipt, HeldSum, JobStanding, JobsWaiting, LastAttempt, LedgerLine,
    LedgerPosting, LetterChoices, LetterCounts, LetterFilter, LinkFilter, Listed, LoggedEvent, MATCHES_COUNTED,
    Matches, Member, MethodFilter, Note, OpenStrays, Paid, PaymentFilter, PaymentOrder, PostingCursor, ProjectHealth,
    ReadyRefund, ReceiptFilter, RefundBatch, RefundFilter, RefundStanding, Scan, ScannedPayment, SetupProgress,
    StoreError, Sums, UnappliedFilter, Window,
};
pub use vault::{SecretKey, SecretKeys, Unsealed, VaultError};
pub use watch::Watch;

/// How often a decision is retried when the rows that it was based on have changed meanwhile.
const DECIDE_MOST: usize = 16;

/// Settings of the installation, chosen by its operator.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    pub fees: FeeSchedule,
    pub settlement: SettlementDelays,
    pub attempts: AttemptLimits,
    /// Private networks that webhooks may be sent to.
    pub webhook_allow: Vec<IpNet>,
    /// Whether every user needs a second factor.
    pub factor_required: bool,
}

/// How long a payment's net stays pending before it settles.
#[derive(Clone, Copy, Debug)]
pub struct SettlementDelays {
    pub sandbox: Duration,
    pub qris: Duration,
    pub virtual_account: Duration,
}

impl Default for SettlementDelays {
    fn default() -> SettlementDelays {
        SettlementDelays { sandbox: Duration::from_secs(60), qris: DAY, virtual_account: DAY }
    }
}

impl SettlementDelays {
    fn of(self, environment: Environment, kind: MethodKind) -> Duration {
        match (environment, kind) {
            (Environment::Sandbox, _) => self.sandbox,
            (Environment::Production, MethodKind::Qris) => self.qris,
            (Environment::Production, MethodKind::VirtualAccount) => self.virtual_account,
        }
    }
}

/// Everything that a use case needs. Cheap to clone.
#[derive(Clone)]
pub struct Engine {
    store: Store,
    /// Issues codes and reports money in the sandbox. In production bank accounts do.
    simulator: Simulator,
    clock: Arc<dyn Clock>,
    settings: Settings,
    vault: vault::Vault,
    /// This process, to other nodes.
    node: NodeId,
    /// How this process has told other nodes that it is alive; none where that failed the last time.
    beats: tokio::sync::watch::Sender<Option<Beats>>,
    projects: Arc<ProjectCache>,
    watchers: Arc<Watchers>,
    /// Who uses it; the audit log names them.
    actor: Arc<Actor>,
    key_uses: Arc<KeyUses>,
    recent_keys: Arc<RecentKeys>,
    change_tokens: Arc<ChangeTokens>,
    page_views: Arc<PageViews>,
    accounts: Arc<banks::OpenAccounts>,
    bank_calls: Arc<banks::Calls>,
    outbound: Arc<banks::Outbound>,
    unfinished: Arc<banks::Unfinished>,
    unsaved_words: Arc<banks::UnsavedWords>,
    lookups: Arc<Lookups>,
    hasher: Arc<passwords::Hasher>,
    logo_reading: Arc<LogoReading>,
    audited_refusals: Arc<AuditedRefusals>,
    mail_room: Arc<MailRoom>,
}

impl Engine {
    pub fn new(store: Store, clock: Arc<dyn Clock>, settings: Settings, secret_keys: impl Into<SecretKeys>) -> Engine {
        let vault = vault::Vault::new(secret_keys.into());
        Engine {
            store,
            simulator: Simulator::default(),
            clock,
            settings,
            vault,
            node: NodeId::drawn(rand::random()),
            beats: tokio::sync::watch::Sender::default(),
            projects: Arc::default(),
            watchers: Arc::default(),
            actor: Arc::new(Actor::CommandLine),
            key_uses: Arc::default(),
            recent_keys: Arc::default(),
            change_tokens: Arc::default(),
            page_views: Arc::default(),
            accounts: Arc::default(),
            bank_calls: Arc::default(),
            outbound: Arc::default(),
            unfinished: Arc::default(),
            unsaved_words: Arc::default(),
            lookups: Arc::default(),
            hasher: Arc::default(),
            logo_reading: Arc::default(),
            audited_refusals: Arc::default(),
            mail_room: Arc::default(),
        }
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub fn fees(&self, project: &Project) -> FeeSchedule {
        self.settings.fees.with(project.fees)
    }

    /// Every row that breaks an invariant of the installation.
    pub async fn verify(&self) -> Result<Vec<Breach>, Error> {
        Ok(self.store.breaches().await?)
    }

    /// Every row that is worth a look, though it breaks no invariant.
    pub async fn verify_notes(&self) -> Result<Vec<Note>, Error> {
        Ok(self.store.notes().await?)
    }

    /// Whether the database answers reads, whether or not it takes commits.
    pub async fn database_answers(&self) -> bool {
        self.store.answers().await
    }

    /// Whether the database answers and takes commits.
    pub async fn is_ready(&self) -> bool {
        self.store.is_ready().await
    }

    fn mint<Kind: StaticType>(&self, now: Timestamp) -> TypeSafeId<Kind> {
        let mut entropy = [0; ENTROPY_BYTES];
        rand::rng().fill_bytes(&mut entropy);
        id::mint(now, entropy)
    }
}

/// A random text over `alphabet`, for secrets and references.
fn random_text(alphabet: &[u8], length: usize) -> String {
    let mut rng = rand::rng();
    (0..length).map(|_| char::from(alphabet[rng.random_range(0..alphabet.len())])).collect()
}
