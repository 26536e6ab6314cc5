//! Sample values, and the changes that the engine would commit for them.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use domain::{
    access::Role,
    api_key::{ACTIVE_KEYS_MOST, ApiKey, KeyHash},
    audit::{Actor, AuditLine, Deed},
    bank::Bank,
    colour::Colour,
    delivery::{Attempt, AttemptOutcome, Delivery},
    event::{Event, News},
    face::{Contacts, Face},
    fee::FeeOverrides,
    id::{ENTROPY_BYTES, mint},
    idempotency::{Endpoint, Idempotency},
    key_networks::KeyNetworks,
    key_rights::KeyRights,
    language::Language,
    ledger::Posting,
    link::{CustomerFields, Link, LinkClaim},
    method::Method,
    money::Rupiah,
    payment::{Checkout, Customer, Device, Location, Payment, PaymentTerms, State},
    pricing::Pricing,
    project::{Environment, MerchantProfile, Project, SuccessWord},
    receipt::{Decided, Decision, Difference, Held, Receipt, ReceiptKey, Unapplied},
    time::Timestamp,
    user::{Email, Invite, Session, TokenHash, User, UserState},
};
use store::{
    AttemptBounds, Change, KeyWrite, LedgerWrite, LinkAttempt, LinkWrite, Noted, PaymentWrite, PeopleWrite,
    ProjectWrite, ReceiptNote, SessionWrite, Store, WebhookWrite, Window, Write,
};

use crate::database::keep;

pub(crate) const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);
pub(crate) const AMOUNT: Rupiah = Rupiah::new(10_000);
pub(crate) const FEE: Rupiah = Rupiah::new(70);
pub(crate) const SETTLEMENT_DELAY: Duration = Duration::from_secs(60);
pub(crate) const EVERYTHING: Window = Window { offset: 0, limit: 1_000 };

static DRAWN: AtomicU64 = AtomicU64::new(1);

/// `NOW` plus some milliseconds.
pub(crate) const fn after(millis: i64) -> Timestamp {
    Timestamp::from_millis(NOW.as_millis() + millis)
}

/// Different at every call and growing: of two ids of the same instant, the one generated later sorts later.
pub(crate) fn entropy() -> [u8; ENTROPY_BYTES] {
    let mut bytes = [0; ENTROPY_BYTES];
    bytes[ENTROPY_BYTES - 8..].copy_from_slice(&DRAWN.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    bytes
}

pub(crate) fn project() -> Project {
    Project {
        id: mint(NOW, entropy()),
        name: "Warung É".to_owned(),
        environment: Environment::Sandbox,
        merchant: MerchantProfile {
            name: "WARUNG".to_owned(),
            city: "BANDUNG".to_owned(),
            postal_code: "40111".to_owned(),
        },
        active: true,
        approved: true,
        success_word: SuccessWord::Succeeded,
        webhook_url: Some("https://warung.example/hook".to_owned()),
        extra_events: Vec::new(),
        face: Face {
            logo: None,
            colour: Some(Colour::new(11, 87, 208)),
            contacts: Contacts { whatsapp: Some("6281234567890".to_owned()), ..Contacts::default() },
        },
        fees: FeeOverrides { qris_basis_points: Some(50), virtual_account: Some(Rupiah::new(3_500)) },
        banks: vec![Bank::Bri, Bank::Bca],
        default_methods: vec![Method::VirtualAccount(Bank::Bri), Method::Qris],
        frame_origins: vec!["https://a.example".to_owned(), "http://[::1]:3000".to_owned()],
        refunds: domain::refund_settings::RefundSettings {
            approval_above: Some(Rupiah::new(1_000_000)),
            key_destination_needs_approval: Some(false),
            returns_fee: true,
        },
        accounts: Vec::new(),
        created_at: NOW,
        version: 1,
    }
}

pub(crate) async fn kept_project(store: &Store) -> Project {
    let project = project();
    keep(store, ProjectWrite::Created { project: project.clone(), sealed_webhook_secret: vec![1, 2, 3] }).await;
    project
}

pub(crate) fn key(project: &Project, name: &str) -> ApiKey {
    ApiKey {
        id: mint(NOW, entropy()),
        project_id: project.id,
        environment: project.environment,
        name: name.to_owned(),
        last_four: "a1B2".to_owned(),
        created_at: NOW,
        revoked_at: None,
        expires_at: None,
        created_by: None,
        rights: KeyRights::USUAL,
        networks: KeyNetworks::default(),
    }
}

/// A hash that no other key has.
pub(crate) fn key_hash(key: &ApiKey) -> KeyHash {
    let text = key.id.to_string();
    KeyHash(std::array::from_fn(|index| text.as_bytes().get(index).copied().unwrap_or_default()))
}

pub(crate) async fn kept_key(store: &Store, project: &Project, name: &str) -> ApiKey {
    let key = key(project, name);
    keep(store, KeyWrite::Created { hash: key_hash(&key), key: key.clone() }).await;
    key
}

/// A project with as many live keys as one may have, and a revoked one.
pub(crate) async fn crowded_project(store: &Store) -> Project {
    let project = kept_project(store).await;
    let revoked = kept_key(store, &project, "revoked").await;
    keep(store, revocation(&revoked, NOW)).await;
    let keys = (0..ACTIVE_KEYS_MOST).map(|number| key(&project, &format!("key {number}")));
    keep(store, Change::default().with_all(keys.map(|key| KeyWrite::Created { hash: key_hash(&key), key }))).await;
    project
}

pub(crate) fn link(project: &Project) -> Link {
    Link {
        id: mint(NOW, entropy()),
        project_id: project.id,
        reference: "PL-1".to_owned(),
        title: "Kopi".to_owned(),
        description: "Dua gelas\nkopi".to_owned(),
        amount: AMOUNT,
        pricing: Pricing::Fixed,
        methods: vec![Method::Qris, Method::VirtualAccount(Bank::Bca)],
        allow_multiple_payments: false,
        customer_fields: CustomerFields::default(),
        metadata: None,
        return_url: None,
        expires_at: None,
        cancelled_at: None,
        claimed_by: None,
        created_at: NOW,
        version: 1,
    }
}

pub(crate) async fn kept_link(store: &Store, project: &Project, allow_multiple_payments: bool) -> Link {
    let link = Link { allow_multiple_payments, ..link(project) };
    keep(store, LinkWrite::Created { link: link.clone() }).await;
    link
}

/// A pending direct payment by QRIS.
pub(crate) fn payment(project: &Project) -> Payment {
    let id = mint(NOW, entropy());
    let terms = PaymentTerms::direct(project.id, "INV-1".to_owned(), AMOUNT, Method::Qris, after(900_000));
    Payment::pending(id, PaymentTerms { fee: FEE, ..terms }, format!("000201{id}"), NOW)
}

pub(crate) fn with_terms(mut payment: Payment, change: impl FnOnce(&mut PaymentTerms)) -> Payment {
    change(&mut payment.terms);
    payment
}

pub(crate) fn account_payment(project: &Project, number: &str) -> Payment {
    Payment {
        code: number.to_owned(),
        ..with_terms(payment(project), |terms| terms.method = Method::VirtualAccount(Bank::Bca))
    }
}

/// A customer's attempt to pay `link`.
pub(crate) fn attempt(project: &Project, link: &Link) -> Payment {
    with_terms(payment(project), |terms| {
        terms.link_id = Some(link.id);
        terms.checkout = Some(checkout());
    })
}

/// Bounds that no test reaches by accident.
pub(crate) const WIDE: AttemptBounds = AttemptBounds { pending_most: 1_000, network: None };

/// Everything that a customer's attempt writes.
pub(crate) fn attempted(payment: &Payment, visitor: Option<&str>, bounds: AttemptBounds) -> Change {
    let link_id = payment.terms.link_id.unwrap();
    let network = bounds.network.as_ref().map(|bound| bound.network.clone());
    let visitor = visitor.map(str::to_owned);
    let replaced = visitor.clone();
    let replaced = replaced.map(|visitor| PaymentWrite::VisitorReplaced { link_id, visitor, at: payment.created_at });
    Change::default()
        .with_all(replaced)
        .with(LinkWrite::Attempted { id: link_id, at: payment.created_at, bounds })
        .with(PaymentWrite::Created { payment: payment.clone() })
        .with(LinkWrite::AttemptRecorded(LinkAttempt {
            link_id,
            payment_id: payment.id,
            project_id: payment.terms.project_id,
            visitor,
            network,
            at: payment.created_at,
        }))
}

pub(crate) async fn kept_attempt(store: &Store, payment: Payment) -> Payment {
    keep(store, attempted(&payment, None, WIDE)).await;
    payment
}

pub(crate) async fn kept_payment(store: &Store, payment: Payment) -> Payment {
    keep(store, PaymentWrite::Created { payment: payment.clone() }).await;
    payment
}

pub(crate) fn checkout() -> Checkout {
    Checkout {
        customer: Customer {
            name: "Siti".to_owned(),
            email: "siti@example.com".to_owned(),
            phone: "+628123".to_owned(),
            address: "Jl. Braga 1\nBandung".to_owned(),
        },
        location: Location { ip: Some("203.0.113.7".to_owned()), country: Some("ID".to_owned()) },
        device: Device {
            kind: Some("mobile".to_owned()),
            os: Some("Android".to_owned()),
            browser: Some("Chrome".to_owned()),
            user_agent: Some("Mozilla/5.0".to_owned()),
        },
        language: Some(Language::English),
    }
}

pub(crate) fn user(email: &str) -> User {
    User {
        id: mint(NOW, entropy()),
        email: Email::parse(email).unwrap(),
        is_operator: false,
        state: UserState::Active,
        created_at: NOW,
    }
}

/// A user with an address of their own.
pub(crate) async fn kept_user(store: &Store) -> User {
    let user = user("anybody@example.com");
    let user = User { email: Email::parse(&format!("{}@example.com", user.id)).unwrap(), ..user };
    keep(store, PeopleWrite::UserCreated { user: user.clone(), password: "$argon2id$none".to_owned() }).await;
    user
}

pub(crate) fn member(project: &Project, user: &User, role: Role) -> PeopleWrite {
    PeopleWrite::MemberAdded { project_id: project.id, user_id: user.id, role, at: NOW }
}

pub(crate) async fn kept_member(store: &Store, project: &Project, role: Role) -> User {
    let user = kept_user(store).await;
    keep(store, member(project, &user, role)).await;
    user
}

/// A hash that nothing else has.
pub(crate) fn token_hash(id: impl ToString) -> TokenHash {
    let text = id.to_string();
    TokenHash(std::array::from_fn(|index| text.as_bytes().get(index).copied().unwrap_or_default()))
}

pub(crate) fn session(user: &User, created_at: Timestamp) -> Session {
    Session {
        id: mint(created_at, entropy()),
        user_id: user.id,
        created_at,
        seen_at: created_at,
        address: "203.0.113.7".to_owned(),
        browser: "Firefox".to_owned(),
        proved_at: created_at,
        by_factor: false,
    }
}

pub(crate) async fn kept_session(store: &Store, user: &User, created_at: Timestamp) -> Session {
    let session = session(user, created_at);
    keep(store, SessionWrite::Begun { hash: token_hash(session.id), session: session.clone() }).await;
    session
}

pub(crate) fn invite(project: &Project, created_at: Timestamp) -> Invite {
    Invite {
        id: mint(created_at, entropy()),
        project_id: project.id,
        email: Email::parse("invited@example.com").unwrap(),
        role: Role::Developer,
        created_at,
        expires_at: Timestamp::from_millis(created_at.as_millis() + 1_000),
        created_by: None,
    }
}

pub(crate) async fn kept_invite(store: &Store, project: &Project, created_at: Timestamp) -> Invite {
    let invite = invite(project, created_at);
    keep(store, PeopleWrite::Invited { hash: token_hash(invite.id), invite: invite.clone() }).await;
    invite
}

pub(crate) fn audit_line(actor: Actor, project: Option<&Project>, deed: Deed) -> AuditLine {
    AuditLine {
        id: mint(NOW, entropy()),
        at: NOW,
        actor,
        project_id: project.map(|project| project.id),
        deed,
        subject: "something".to_owned(),
        detail: "a little more".to_owned(),
    }
}

/// An event about a key that need not exist: the simplest row to store.
pub(crate) fn event(project: &Project) -> Event {
    let news = News::ApiKeyDeleted { key: mint(NOW, entropy()) };
    Event { id: mint(NOW, entropy()), project_id: project.id, created_at: NOW, news }
}

/// A delivery that is due now.
pub(crate) async fn kept_delivery(store: &Store, project: &Project) -> Delivery {
    let event = event(project);
    keep(store, WebhookWrite::Event(event.clone())).await;
    store.delivery(event.id).await.unwrap().unwrap()
}

pub(crate) fn attempt_refused() -> Attempt {
    let outcome = AttemptOutcome::of_answer(Duration::from_millis(12), 500, "no".to_owned());
    Attempt { at: after(5), outcome }
}

pub(crate) fn idempotency(project: &Project, key: &str) -> Idempotency {
    Idempotency { project_id: project.id, endpoint: Endpoint::Payments, key: key.to_owned(), request: [7; 16] }
}

pub(crate) fn bind(project: &Project, key: &str, resource: impl ToString) -> Write {
    Write::Bind { idempotency: idempotency(project, key), resource: resource.to_string() }
}

pub(crate) fn receipt_key(id: &str) -> ReceiptKey {
    ReceiptKey { provider: "sandbox".to_owned(), id: id.to_owned() }
}

pub(crate) fn note(payment: &Payment, receipt_id: &str, noted: Noted) -> LedgerWrite {
    note_under(receipt_key(receipt_id), payment, noted)
}

fn note_under(key: ReceiptKey, payment: &Payment, noted: Noted) -> LedgerWrite {
    LedgerWrite::Receipt(ReceiptNote {
        key,
        project_id: payment.terms.project_id,
        payment_id: payment.id,
        received_at: after(10),
        noted,
    })
}

/// Everything that the engine commits when `payment` is paid.
pub(crate) fn confirmation(payment: &Payment, link: Option<&Link>, receipt_id: &str) -> Change {
    confirmation_under(receipt_key(receipt_id), payment, link)
}

/// The same by a receipt of any provider.
pub(crate) fn confirmation_under(key: ReceiptKey, payment: &Payment, link: Option<&Link>) -> Change {
    let received_at = after(10);
    let receipt = Receipt { key: key.clone(), amount: payment.terms.amount, paid_at: NOW, received_at };
    let claim = link.map_or(LinkClaim::NotNeeded, Link::claim);
    let transition = payment.clone().confirm(&receipt, claim, SETTLEMENT_DELAY).unwrap();
    let claimed = transition.claims.map(|id| LinkWrite::Claimed { id, payment_id: payment.id });
    let others = transition.claims.map(|id| PaymentWrite::PendingCancelled {
        link_id: id,
        but: Some(payment.id),
        at: received_at,
    });
    let money = Noted::Money { amount: payment.terms.amount, paid_at: NOW, held: None };
    let news = News::PaymentPaid { payment: payment.id, paid_at: NOW, word: SuccessWord::Paid };
    Change::from(note_under(key, payment, money))
        .with(moved_and_due(&transition.payment, transition.payment.state, transition.settles_at))
        .with_all(claimed)
        .with_all(others)
        .with_all(transition.posting.map(LedgerWrite::Posting))
        .with(happened(payment, news))
}

/// Everything that the engine commits when the provider rejects `payment`.
pub(crate) fn refusal(payment: &Payment, receipt_id: &str) -> Change {
    let transition = payment.clone().refuse(after(10)).unwrap();
    Change::from(note(payment, receipt_id, Noted::Refusal))
        .with(moved_and_due(&transition.payment, transition.payment.state, transition.settles_at))
        .with(happened(payment, News::PaymentFailed { payment: payment.id }))
}

/// Everything that the engine commits for money that pays nothing.
pub(crate) fn surplus(payment: &Payment, receipt_id: &str, amount: Rupiah, reason: Unapplied) -> Change {
    let (project_id, payment_id, at) = (payment.terms.project_id, payment.id, after(10));
    let money = Noted::Money { amount, paid_at: NOW, held: Some(held(reason)) };
    let posting = Posting::unapplied(project_id, payment_id, receipt_key(receipt_id), amount, at);
    Change::from(note(payment, receipt_id, money)).with(LedgerWrite::Posting(posting))
}

pub(crate) fn held(reason: Unapplied) -> Held {
    Held { id: mint(after(10), entropy()), reason }
}

pub(crate) fn decided(payment: &Payment, receipt_id: &str, decision: Decision, at: Timestamp) -> LedgerWrite {
    LedgerWrite::ReceiptDecided {
        key: receipt_key(receipt_id),
        project_id: payment.terms.project_id,
        decided: Decided { decision, at, note: "Dihubungi\nlewat telepon".to_owned(), by: None, refund: None },
    }
}

/// Everything that the engine commits when a member accepts held money for `payment`.
pub(crate) fn acceptance(payment: &Payment, receipt_id: &str, at: Timestamp) -> Change {
    acceptance_of(payment, receipt_id, payment.terms.amount, at)
}

/// The same where the money is another amount, or was sent for another payment.
pub(crate) fn acceptance_of(payment: &Payment, receipt_id: &str, amount: Rupiah, at: Timestamp) -> Change {
    let receipt = Receipt { key: receipt_key(receipt_id), amount, paid_at: NOW, received_at: after(10) };
    let accepted = Difference::Accepted;
    let transition = payment.clone().accept(&receipt, LinkClaim::NotNeeded, accepted, SETTLEMENT_DELAY, at).unwrap();
    let news = News::PaymentPaid { payment: payment.id, paid_at: NOW, word: SuccessWord::Paid };
    let event = Event { id: mint(at, entropy()), project_id: payment.terms.project_id, created_at: at, news };
    let decision = Decision::Accepted { payment_id: payment.id, difference: amount - payment.terms.amount };
    Change::from(decided(payment, receipt_id, decision, at))
        .with(moved_and_due(&transition.payment, transition.payment.state, transition.settles_at))
        .with_all(transition.posting.map(LedgerWrite::Posting))
        .with(WebhookWrite::Event(event))
}

/// Everything that the engine commits when a member returns held money.
pub(crate) fn giving_back(payment: &Payment, receipt_id: &str, amount: Rupiah, at: Timestamp) -> Change {
    let posting = Posting::returned(payment.terms.project_id, payment.id, receipt_key(receipt_id), amount, at);
    Change::from(decided(payment, receipt_id, Decision::Returned, at)).with(LedgerWrite::Posting(posting))
}

pub(crate) fn settlement(payment: &Payment, at: Timestamp) -> Change {
    settlement_of(payment, payment.merchant_net(), at)
}

/// The payment has moved once since it was made: it was paid.
pub(crate) fn settlement_of(payment: &Payment, net: Rupiah, at: Timestamp) -> Change {
    let posting = Posting::settled(payment.terms.project_id, payment.id, net, at);
    Change::from(PaymentWrite::Settled { payment_id: payment.id, version: payment.version + 1 })
        .with(LedgerWrite::Posting(posting))
}

pub(crate) fn revocation(key: &ApiKey, at: Timestamp) -> Change {
    let event = Event {
        id: mint(at, entropy()),
        project_id: key.project_id,
        created_at: at,
        news: News::ApiKeyDeleted { key: key.id },
    };
    Change::from(KeyWrite::Revoked { id: key.id, project_id: key.project_id, at }).with(WebhookWrite::Event(event))
}

pub(crate) fn moved_to(payment: &Payment, state: State) -> PaymentWrite {
    moved_and_due(payment, state, None)
}

fn moved_and_due(payment: &Payment, state: State, settles_at: Option<Timestamp>) -> PaymentWrite {
    let link_id = payment.terms.link_id;
    PaymentWrite::Moved { id: payment.id, version: payment.version, state, settles_at, link_id }
}

fn happened(payment: &Payment, news: News) -> WebhookWrite {
    let id = mint(after(10), entropy());
    WebhookWrite::Event(Event { id, project_id: payment.terms.project_id, created_at: after(10), news })
}

/// Runs every maintenance job until it has nothing more to do.
pub(crate) async fn maintain(store: &Store, now: Timestamp) {
    while store.extend_list_checkpoints(now).await.unwrap() {}
    while store.extend_balance_checkpoints(now).await.unwrap() {}
    while store.close_hours(now).await.unwrap() {}
    while store.extend_search_index(now).await.unwrap() {}
}
