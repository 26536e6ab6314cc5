//! Migrating an installation of an earlier version keeps all its data.

use domain::{
    bank_account::{CredentialKind, Stage},
    id::{EventId, InviteId, KeyId, LinkId, PaymentId, ProjectId, UserId, mint},
    money::Rupiah,
    payment::State,
    receipt::{Decider, Decision, Unapplied},
    search::SearchTerm,
};
use store::{
    Balance, Change, LinkFilter, Matches, MethodFilter, PaymentFilter, PaymentWrite, Store, Sums, Tables,
    UnappliedFilter,
};

use crate::{
    bank_samples::{self, BCA},
    database::{Database, Outcome, commit, keep, on_every_database},
    opening_samples,
    samples::{self, AMOUNT, EVERYTHING, FEE, NOW, after, entropy, kept_project},
};

on_every_database![
    what_the_first_version_kept_is_there_after_the_migration,
    what_was_forbidden_before_the_migration_still_is,
    what_an_earlier_release_stamped_late_is_a_note_and_breaks_nothing,
    what_is_new_works_on_what_the_first_version_kept,
    a_notice_of_the_first_version_leaves_its_id_free_for_money,
    texts_of_the_first_version_are_found_as_new_ones_are,
    customers_of_the_first_version_are_found_once_maintenance_has_passed,
    an_empty_first_version_is_brought_up_to_date_by_several_at_once,
    deliveries_of_revoked_keys_that_an_earlier_version_kept_are_urgent,
    who_created_a_key_or_an_invitation_is_read_from_the_log_of_the_second_version,
    banks_can_be_used_with_what_the_second_version_kept,
    banks_can_issue_codes_for_a_project_of_the_second_version,
    list_checkpoints_of_an_earlier_version_get_their_sums,
    held_money_of_the_second_version_has_an_id_and_its_decision_says_who_made_it,
];

/// The data of an installation of the first version: one payment that has settled, one that was paid twice, and one
/// that is pending.
struct Kept {
    project: ProjectId,
    settled: PaymentId,
    twice: PaymentId,
    waiting: PaymentId,
}

fn fill(database: &Database) -> Kept {
    let id = || mint(NOW, entropy());
    let kept = Kept { project: mint(NOW, entropy()), settled: id(), twice: id(), waiting: id() };
    let Kept { project, settled, twice, waiting } = &kept;
    let key: KeyId = mint(NOW, entropy());
    let (now, secret) = (NOW.as_millis(), if database.is_typed() { "'\\x01'" } else { "x'01'" });
    let mut sql = format!(
        "INSERT INTO projects (id, name, environment, merchant_name, merchant_city, merchant_postal_code, active, approved, \
         success_word, webhook_secret, banks, default_methods, created_at, version) VALUES ('{project}', 'Warung', \
         'sandbox', 'WARUNG', 'BANDUNG', '40111', 1, 1, 'paid', {secret}, '', 'qris', {now}, 1); \
         INSERT INTO api_keys (id, project_id, name, hash, last_four, created_at) \
         VALUES ('{key}', '{project}', 'key', {secret}, 'a1B2', {now});"
    );
    for (payment, method, state, paid_at, settles_at) in [
        (settled, "virtual_account:bca", "paid", now.to_string(), "NULL".to_owned()),
        (twice, "qris", "paid", now.to_string(), (now + 60_000).to_string()),
        (waiting, "qris", "pending", "NULL".to_owned(), "NULL".to_owned()),
    ] {
        sql += &format!(
            "INSERT INTO payments (id, project_id, reference, search_text, amount, fee, method, code, state, paid_at, \
             settles_at, created_at, expires_at, version) VALUES ('{payment}', '{project}', 'INV', 'inv', 10000, 70, \
             '{method}', 'code {payment}', '{state}', {paid_at}, {settles_at}, {now}, {}, 1); ",
            now + 900_000
        );
    }
    let receipt = |id: &str, payment, outcome: &str, reason: &str| {
        format!(
            "INSERT INTO receipts (provider, id, kind, project_id, payment_id, amount, paid_at, received_at, outcome, \
             reason) VALUES ('sandbox', '{id}', 'money', '{project}', '{payment}', 10000, {now}, {now}, '{outcome}', \
             {reason}); "
        )
    };
    let posting = |id: String, payment, kind: &str, legs: &[(&str, i64)]| {
        let entry = |(account, amount): &(&str, i64)| {
            format!("INSERT INTO entries VALUES ('{project}', '{account}', {now}, '{id}', {amount}); ")
        };
        format!("INSERT INTO postings VALUES ('{id}', '{project}', '{payment}', '{kind}', {now}); ")
            + &legs.iter().map(entry).collect::<String>()
    };
    for payment in [settled, twice] {
        sql += &receipt(&format!("of {payment}"), payment, "applied", "NULL");
        let legs = [("clearing", -10_000), ("pending", 9_930), ("fees", 70)];
        sql += &posting(format!("paid:{payment}"), payment, "paid", &legs);
        let event: EventId = mint(NOW, entropy());
        sql += &format!(
            "INSERT INTO events VALUES ('{event}', '{project}', 'payment.paid', '{payment}', {now}, {now}, 'paid'); "
        );
    }
    sql += &posting(format!("settled:{settled}"), settled, "settled", &[("pending", -9_930), ("available", 9_930)]);
    sql += &receipt("again", twice, "unapplied", "'already_paid'");
    let held = [("clearing", -10_000), ("unapplied", 10_000)];
    sql += &posting("unapplied:sandbox:again".to_owned(), twice, "unapplied", &held);
    sql += &format!("INSERT INTO payment_marks VALUES ('{project}', '{settled}', 1); ");
    database.run_beside(&sql).unwrap();
    kept
}

/// A project in the tables of an earlier version.
pub(crate) fn add_project(database: &Database) -> ProjectId {
    let id: ProjectId = mint(NOW, entropy());
    let secret = if database.is_typed() { "'\\x01'" } else { "x'01'" };
    let sql = format!(
        "INSERT INTO projects (id, name, environment, merchant_name, merchant_city, merchant_postal_code, active, \
         approved, success_word, webhook_secret, banks, default_methods, created_at, version) VALUES ('{id}', \
         'Warung', 'sandbox', 'WARUNG', 'BANDUNG', '40111', 1, 1, 'paid', {secret}, '', 'qris', {}, 1);",
        NOW.as_millis()
    );
    database.run_beside(&sql).unwrap();
    id
}

async fn assert_kept(store: &Store, kept: &Kept) {
    let net = AMOUNT - FEE;
    let balance = Balance { available: net, pending: net, unapplied: AMOUNT, ..Balance::default() };
    assert_eq!(store.balance(kept.project, None).await.unwrap(), balance);
    let listed = store.payments(kept.project, &PaymentFilter::default(), EVERYTHING).await.unwrap();
    let ids: Vec<PaymentId> = listed.items.iter().map(|payment| payment.id).collect();
    assert_eq!((ids, listed.total), (vec![kept.waiting, kept.twice, kept.settled], 3));
    let by_account = PaymentFilter { method: Some(MethodFilter::One(BCA)), ..PaymentFilter::default() };
    assert_eq!(store.payments(kept.project, &by_account, EVERYTHING).await.unwrap().items, listed.items[2..]);
    let (amount, fee) = (Rupiah::new(20_000), Rupiah::new(140));
    let all = Matches::All(Sums { payments: 3, paid: 2, amount, fee });
    assert_eq!(store.payments_matching(kept.project, &PaymentFilter::default()).await.unwrap(), all);
    assert_eq!(store.volume(kept.project, NOW, after(1)).await.unwrap()[0].payments, 2);
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn what_the_first_version_kept_is_there_after_the_migration(database: Database) {
    let database = database.first_version();
    let kept = fill(&database);
    assert_eq!(database.tables().await, Tables::Behind);
    let store = database.open().await;
    assert_eq!(database.tables().await, Tables::Current);
    assert_kept(&store, &kept).await;
    // A second start has nothing to migrate.
    assert_kept(&database.open().await, &kept).await;
    assert!(!database.rows().iter().any(|row| row.starts_with("payment_marks:")));
}

async fn what_was_forbidden_before_the_migration_still_is(database: Database) {
    let database = database.first_version();
    fill(&database);
    database.open().await;
    let before = database.rows();
    for sql in ["UPDATE postings SET at = at + 1", "DELETE FROM postings WHERE kind = 'settled'", "DELETE FROM entries"]
    {
        let refused = database.run_beside(sql);
        assert!(refused.as_ref().is_err_and(|error| error.contains("append-only")), "{sql}: {refused:?}");
    }
    for sql in [
        "INSERT INTO entries SELECT project_id, account, at + 1, 'of nothing', amount FROM entries",
        "INSERT INTO postings SELECT 'more', project_id, 'of nothing', kind, at FROM postings WHERE kind = 'settled'",
        "INSERT INTO postings SELECT 'more', project_id, payment_id, 'stolen', at FROM postings WHERE kind = 'settled'",
        "UPDATE receipts SET decision = 'kept', decided_at = 1, decision_note = 'x' WHERE outcome = 'unapplied'",
        "UPDATE receipts SET decision = 'accepted', decided_at = 1, decision_note = 'x' WHERE outcome = 'applied'",
        "UPDATE receipts SET decision = 'accepted' WHERE outcome = 'unapplied'",
    ] {
        assert!(database.run_beside(sql).is_err(), "{sql}");
    }
    assert_eq!(database.rows(), before);
}

/// Earlier releases could stamp a payment after its link was cancelled or expired, though it was committed before.
async fn what_an_earlier_release_stamped_late_is_a_note_and_breaks_nothing(database: Database) {
    let database = database.first_version();
    let kept = fill(&database);
    let (project, now) = (kept.project, NOW.as_millis());
    let mut late = Vec::new();
    for (cancelled_at, expires_at, is_late) in [
        ((now - 1).to_string(), "NULL".to_owned(), true),
        ("NULL".to_owned(), (now - 1).to_string(), true),
        (now.to_string(), now.to_string(), false),
    ] {
        let (link, payment): (LinkId, PaymentId) = (mint(NOW, entropy()), mint(NOW, entropy()));
        let rows = format!(
            "INSERT INTO links (id, project_id, reference, title, description, search_text, amount, methods, \
             allow_multiple_payments, customer_fields, expires_at, cancelled_at, created_at, version) VALUES ('{link}', \
             '{project}', 'PL-1', 'Kopi', '', 'kopi', 10000, 'qris', 0, '', {expires_at}, {cancelled_at}, {now}, 3); \
             INSERT INTO payments (id, project_id, link_id, reference, search_text, amount, fee, method, code, state, \
             created_at, expires_at, version) VALUES ('{payment}', '{project}', '{link}', 'PL-1', 'pl-1', 10000, 70, \
             'qris', 'code {payment}', 'expired', {now}, {now}, 2)"
        );
        database.run_beside(&rows).unwrap();
        late.extend(is_late.then(|| payment.to_string()));
    }
    let store = database.open().await;
    assert_eq!(store.breaches().await.unwrap(), []);
    let mut noted: Vec<String> = store.notes().await.unwrap().into_iter().map(|note| note.row).collect();
    noted.sort();
    late.sort();
    assert_eq!(noted, late);
}

async fn what_is_new_works_on_what_the_first_version_kept(database: Database) {
    let database = database.first_version();
    let kept = fill(&database);
    let store = database.open().await;
    let undecided = store.unapplied_receipts(kept.project, UnappliedFilter::Undecided, None, EVERYTHING).await.unwrap();
    assert_eq!((undecided.total, undecided.items[0].payment_id), (1, kept.twice));
    let twice = store.payment(kept.twice).await.unwrap().unwrap();
    keep(&store, samples::giving_back(&twice, "again", AMOUNT, after(20))).await;
    let waiting = store.payment(kept.waiting).await.unwrap().unwrap();
    keep(&store, samples::surplus(&waiting, "late", AMOUNT, Unapplied::TooLate)).await;
    keep(&store, samples::acceptance(&waiting, "late", after(20))).await;
    let paid = store.payment(kept.waiting).await.unwrap().unwrap();
    assert_eq!(paid.state, State::Paid { at: NOW });
    assert_eq!(commit(&store, samples::settlement(&waiting, after(70_000))).await, Outcome::Kept);
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn a_notice_of_the_first_version_leaves_its_id_free_for_money(database: Database) {
    let database = database.first_version();
    let Kept { project, waiting, .. } = fill(&database);
    let now = NOW.as_millis();
    let notice = |id: &str, kind: &str| {
        format!(
            "INSERT INTO receipts (provider, id, kind, project_id, payment_id, received_at, outcome) \
             VALUES ('sandbox', '{id}', '{kind}', '{project}', '{waiting}', {now}, 'applied');"
        )
    };
    database.run_beside(&(notice("slow", "progress") + &notice("refused", "refusal"))).unwrap();
    let store = database.open().await;
    for id in ["slow", "refused"] {
        let key = samples::receipt_key(id);
        assert!(store.noted(&key, waiting).await.unwrap(), "{id}");
        assert_eq!(store.payment_of_receipt(&key).await.unwrap(), None, "{id}");
    }
    let waiting = store.payment(waiting).await.unwrap().unwrap();
    assert_eq!(commit(&store, samples::confirmation(&waiting, None, "slow")).await, Outcome::Kept);
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn texts_of_the_first_version_are_found_as_new_ones_are(database: Database) {
    let database = database.first_version();
    let Kept { project, settled, twice, waiting } = fill(&database);
    let texts = [(settled, "σας"), (twice, "maße"), (waiting, "café σ")];
    let reference =
        |(id, text)| format!("UPDATE payments SET reference = '{text}', search_text = '{text}' WHERE id = '{id}';");
    let link: LinkId = mint(NOW, entropy());
    let link = format!(
        "INSERT INTO links (id, project_id, reference, title, description, search_text, amount, methods, \
         allow_multiple_payments, customer_fields, created_at, version) VALUES ('{link}', '{project}', 'PL', 'Σας', '', \
         'σας\npl', 10000, 'qris', 0, '', {}, 1);",
        NOW.as_millis()
    );
    database.run_beside(&(texts.map(reference).concat() + &link)).unwrap();
    let store = database.open().await;
    for (term, found) in [
        ("σας", vec![settled]),
        ("ΣΑΣ", vec![settled]),
        ("MASSE", vec![twice]),
        ("CAFÉ", vec![waiting]),
        ("ς", vec![waiting, settled]),
    ] {
        let filter = PaymentFilter { search: Some(term.to_owned()), ..PaymentFilter::default() };
        let listed = store.payments(project, &filter, EVERYTHING).await.unwrap();
        assert_eq!(listed.items.iter().map(|payment| payment.id).collect::<Vec<_>>(), found, "{term}");
    }
    for (term, found) in [("ΣΑΣ", 1), ("σας", 1), ("ΑΣP", 0)] {
        let filter = LinkFilter { search: Some(term.to_owned()), ..LinkFilter::default() };
        assert_eq!(store.links(project, &filter, EVERYTHING).await.unwrap().total, found, "{term}");
    }
}

async fn customers_of_the_first_version_are_found_once_maintenance_has_passed(database: Database) {
    let database = database.first_version();
    let Kept { project, settled, .. } = fill(&database);
    let customer = format!(
        "INSERT INTO checkouts (payment_id, project_id, customer_name, customer_email, customer_phone, customer_address) \
         VALUES ('{settled}', '{project}', 'SÍTI', 'Siti@Example.com', '+62 812-3456', '')"
    );
    database.run_beside(&customer).unwrap();
    let store = database.open().await;
    samples::maintain(&store, NOW).await;
    for term in ["síti", "SÍTI", "example.com", "0812 3456"] {
        let filter = PaymentFilter { q: Some(SearchTerm::parse(term).unwrap()), ..PaymentFilter::default() };
        let listed = store.payments(project, &filter, EVERYTHING).await.unwrap();
        assert_eq!(listed.items.iter().map(|payment| payment.id).collect::<Vec<_>>(), [settled], "{term}");
    }
}

async fn an_empty_first_version_is_brought_up_to_date_by_several_at_once(database: Database) {
    let database = database.first_version();
    let stores = futures_util::future::join_all((0..4).map(|_| database.open())).await;
    for store in &stores {
        kept_project(store).await;
    }
    assert_eq!(stores[0].projects().await.unwrap().len(), 4);
    assert_eq!(stores[3].breaches().await.unwrap(), []);
}

async fn deliveries_of_revoked_keys_that_an_earlier_version_kept_are_urgent(database: Database) {
    let database = database.first_version();
    let kept = fill(&database);
    let id = || -> EventId { mint(NOW, entropy()) };
    let (failed, revoked, now) = (id(), id(), NOW.as_millis());
    let event = |event, kind| {
        format!(
            "INSERT INTO events VALUES ('{event}', '{0}', '{kind}', 'of {event}', {now}, NULL, NULL); \
             INSERT INTO deliveries VALUES ('{event}', '{0}', 'pending', {now}, 0, 0); ",
            kept.project
        )
    };
    database.run_beside(&(event(failed, "payment.failed") + &event(revoked, "apikey.deleted"))).unwrap();
    let due = database.open().await.due_deliveries(NOW, 1).await.unwrap();
    let found: Vec<_> = due.iter().map(|delivery| (delivery.event_id, delivery.urgent)).collect();
    assert_eq!(found, [(revoked, true), (failed, false)]);
}

async fn who_created_a_key_or_an_invitation_is_read_from_the_log_of_the_second_version(database: Database) {
    let database = database.second_version();
    let project = add_project(&database);
    let (siti, budi): (UserId, UserId) = (mint(NOW, entropy()), mint(NOW, entropy()));
    let (own, bare): (KeyId, KeyId) = (mint(after(1), entropy()), mint(after(2), entropy()));
    let [open, used, voided]: [InviteId; 3] = [1, 2, 3].map(|millis| mint(after(millis), entropy()));
    let blob = |byte: &str| if database.is_typed() { format!("'\\x{byte}'") } else { format!("x'{byte}'") };
    let now = NOW.as_millis();
    let mut sql = String::new();
    for (user, email) in [(siti, "siti@example.com"), (budi, "budi@example.com")] {
        sql += &format!("INSERT INTO users VALUES ('{user}', '{email}', 'hash', 0, {now}); ");
    }
    for (key, byte) in [(own, "02"), (bare, "03")] {
        sql += &format!(
            "INSERT INTO api_keys (id, project_id, name, hash, last_four, created_at) \
             VALUES ('{key}', '{project}', 'key {byte}', {}, 'a1B2', {now}); ",
            blob(byte)
        );
    }
    sql += &format!("INSERT INTO members VALUES ('{project}', '{siti}', 'owner', {now}); ");
    for (invite, byte, email, used_by) in [
        (open, "02", "second@example.com", "NULL, NULL".to_owned()),
        (used, "03", "second@example.com", format!("{now}, '{budi}'")),
        (voided, "04", "third@example.com", "NULL, NULL".to_owned()),
    ] {
        sql += &format!(
            "INSERT INTO invites VALUES ({}, '{invite}', '{project}', '{email}', 'owner', {now}, {}, {used_by}); ",
            blob(byte),
            now + 1_000
        );
    }
    for (n, actor, deed, subject, at) in [
        (1, siti.to_string(), "key.created", own.to_string(), now),
        (2, "command-line".to_owned(), "key.created", bare.to_string(), now),
        // Somebody invited the same person before, and that invitation is gone.
        (3, budi.to_string(), "member.invited", "second@example.com".to_owned(), now - 1),
        (4, siti.to_string(), "member.invited", "second@example.com".to_owned(), now + 1),
        // They are no member any more.
        (5, budi.to_string(), "member.invited", "third@example.com".to_owned(), now),
    ] {
        sql += &format!(
            "INSERT INTO audit VALUES ('aud_{n}', {at}, '{actor}', NULL, '{project}', '{deed}', '{subject}', ''); "
        );
    }
    database.run_beside(&sql).unwrap();
    let store = database.open().await;
    let creators: Vec<_> = store.keys(project).await.unwrap().into_iter().map(|key| (key.id, key.created_by)).collect();
    assert!(creators.contains(&(own, Some(siti))) && creators.contains(&(bare, None)), "{creators:?}");
    let [invite] = &store.invites(project, NOW).await.unwrap()[..] else { panic!("one is open") };
    assert_eq!((invite.id, invite.created_by), (open, Some(siti)));
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn banks_can_be_used_with_what_the_second_version_kept(database: Database) {
    let database = database.first_version();
    let kept = fill(&database);
    database.raise_to_second_version();
    assert_eq!(database.tables().await, Tables::Behind);
    let store = database.open().await;
    assert_eq!(database.tables().await, Tables::Current);
    assert_kept(&store, &kept).await;
    let project = store.project(kept.project).await.unwrap().unwrap();
    assert_eq!((project.accounts.as_slice(), project.version), (&[][..], 1));

    let account = bank_samples::kept_account(&store).await;
    keep(&store, bank_samples::set(&bank_samples::credential(&account, CredentialKind::Inbound, Stage::Current))).await;
    keep(&store, bank_samples::assigned(&project, BCA, Some(&account))).await;
    let project = store.project(kept.project).await.unwrap().unwrap();
    assert_eq!(project.account(BCA).map(|assigned| assigned.account_id), Some(account.id));
    let billed = samples::account_payment(&project, "1234500001");
    let taken = bank_samples::taken(&account, &billed, NOW);
    keep(&store, Change::from(PaymentWrite::Created { payment: billed.clone() }).with(taken)).await;
    keep(&store, bank_samples::accepted(&account, "1", "paid", &billed)).await;
    // A stray is money for a payment of the earlier version.
    let stray = bank_samples::kept_stray(&store, &account, "stray").await;
    let waiting = store.payment(kept.waiting).await.unwrap().unwrap();
    keep(&store, bank_samples::assigned_stray(&stray, &waiting)).await;
    for payment in [billed.id, kept.waiting] {
        assert_eq!(store.payment(payment).await.unwrap().unwrap().state, State::Paid { at: NOW });
    }
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn list_checkpoints_of_an_earlier_version_get_their_sums(database: Database) {
    let database = database.first_version();
    let kept = fill(&database);
    database.raise_to_second_version();
    let checkpoint = |(number, id): (usize, &PaymentId)| {
        let position = number + 1;
        format!("INSERT INTO payment_marks VALUES ('{}', '{id}', {position}, {position}0000); ", kept.project)
    };
    let checkpoints: String = [kept.settled, kept.twice, kept.waiting].iter().enumerate().map(checkpoint).collect();
    database.run_beside(&checkpoints).unwrap();
    let store = database.open().await;
    let rows = |table: &str| database.rows().iter().filter(|row| row.starts_with(table)).count();
    assert_eq!((rows("payment_marks:"), rows("payment_sums:")), (3, 0));
    assert_kept(&store, &kept).await;
    samples::maintain(&store, NOW).await;
    // One payment can still be paid.
    assert_eq!((rows("payment_marks:"), rows("payment_sums:")), (3, 2));
    assert_kept(&store, &kept).await;
}

async fn banks_can_issue_codes_for_a_project_of_the_second_version(database: Database) {
    let database = database.first_version();
    let kept = fill(&database);
    database.raise_to_second_version();
    let store = database.open().await;
    let project = store.project(kept.project).await.unwrap().unwrap();
    let account = bank_samples::kept_account(&store).await;
    let (_, issued) = opening_samples::kept_issued(&store, &project, &account).await;
    keep(&store, opening_samples::paid(&account, &issued, "told")).await;
    assert_eq!(store.payment(issued.id).await.unwrap().unwrap().state, State::Paid { at: NOW });
    // What was pending before expires without a bank being asked.
    assert!(store.any_to_expire(after(10_000_000)).await.unwrap());
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn held_money_of_the_second_version_has_an_id_and_its_decision_says_who_made_it(database: Database) {
    let database = database.first_version();
    let kept = fill(&database);
    database.raise_to_second_version();
    let (project, twice, waiting) = (kept.project, kept.twice, kept.waiting);
    let (siti, now): (UserId, i64) = (mint(NOW, entropy()), NOW.as_millis());
    let event: EventId = mint(NOW, entropy());
    let mut sql = format!(
        "UPDATE payments SET state = 'paid', paid_at = {now}, settles_at = {now} WHERE id = '{waiting}'; \
         INSERT INTO events (id, project_id, kind, subject, created_at, paid_at, success_word) \
         VALUES ('{event}', '{project}', 'payment.paid', '{waiting}', {now}, {now}, 'paid'); "
    );
    let deciding = [
        ("late", waiting, "accepted", [("unapplied", -10_000), ("pending", 9_930), ("fees", 70)].as_slice()),
        ("third", twice, "returned", [("unapplied", -10_000), ("clearing", 10_000)].as_slice()),
    ];
    for (receipt, payment, decision, legs) in deciding {
        sql += &format!(
            "INSERT INTO receipts (provider, id, kind, project_id, payment_id, amount, paid_at, received_at, outcome, \
             reason, decision, decided_at, decision_note) VALUES ('sandbox', '{receipt}', 'money', '{project}', \
             '{payment}', 10000, {now}, {now}, 'unapplied', 'too_late', '{decision}', {now}, 'Sudah 100%_ {receipt}'); "
        );
        let held = [("clearing", -10_000), ("unapplied", 10_000)];
        for (kind, legs) in [("unapplied", held.as_slice()), (decision, legs)] {
            let posting = format!("{kind}:sandbox:{receipt}");
            sql += &format!("INSERT INTO postings VALUES ('{posting}', '{project}', '{payment}', '{kind}', {now}); ");
            for (account, amount) in legs {
                sql +=
                    &format!("INSERT INTO entries VALUES ('{project}', '{account}', {now}, '{posting}', {amount}); ");
            }
        }
    }
    // The log was written a moment later. Its other line about the same payment has another note.
    for (n, actor, payment, decision, note) in [
        (1, siti.to_string(), waiting, "accepted", "Sudah 100%_ late"),
        (2, "command-line".to_owned(), twice, "returned", "Sudah 100%_ third"),
        (3, siti.to_string(), twice, "returned", "Sudah 100%_ fourth"),
    ] {
        sql += &format!(
            "INSERT INTO audit VALUES ('aud_{n}', {}, '{actor}', NULL, '{project}', 'receipt.{decision}', '{payment}', \
             'Rp10.000 {note}'); ",
            now + 3
        );
    }
    database.run_beside(&sql).unwrap();
    let store = database.open().await;
    assert_eq!(store.breaches().await.unwrap(), []);
    let listed = store.unapplied_receipts(project, UnappliedFilter::All, None, EVERYTHING).await.unwrap().items;
    assert_eq!(listed.len(), 3);
    let ids: std::collections::BTreeSet<String> = listed.iter().map(|held| held.id.to_string()).collect();
    assert_eq!(ids.len(), 3);
    for held in &listed {
        assert_eq!(store.unapplied_receipt(project, held.id).await.unwrap().as_ref(), Some(held));
    }
    let decided = |id: &str| listed.iter().find(|held| held.receipt.key.id == id).unwrap().decided.clone();
    assert_eq!(decided("again"), None);
    let accepted = decided("late").map(|decided| (decided.decision, decided.by));
    let decision = Decision::Accepted { payment_id: waiting, difference: Rupiah::ZERO };
    assert_eq!(accepted, Some((decision, Some(Decider::User(siti)))));
    let returned = decided("third").map(|decided| (decided.decision, decided.by));
    assert_eq!(returned, Some((Decision::Returned, None)));
    // What is due settles as before.
    let due = store.due_to_settle(after(60_000), 10).await.unwrap();
    assert!(due.iter().all(|due| due.left == AMOUNT - FEE) && due.len() == 2, "{due:?}");
}
