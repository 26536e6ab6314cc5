//! Extra events: written with what they tell of, for the projects that ask for them at that moment.

use domain::{
    delivery::DeliveryState,
    event::{Event, EventKind, HeldMoney, News},
    id::{EventId, PaymentId, ProjectId, mint},
    metadata::Metadata,
    money::Rupiah,
    payment::{Payment, State},
    project::{Project, SuccessWord},
    receipt::Unapplied,
    time::Timestamp,
};
use store::{EventFilter, PaymentWrite, ProjectWrite, Store, WebhookWrite};

use crate::{
    database::{Database, keep, on_every_database},
    samples::{self, EVERYTHING, NOW, WIDE, after, attempted, entropy, kept_link, kept_payment, kept_project},
};

on_every_database![
    what_a_project_asks_for_is_read_back,
    expiries_are_told_to_projects_that_ask_and_sent_where_there_is_a_url,
    a_batch_of_expiries_tells_of_exactly_the_payments_that_it_expires,
    a_cancelled_link_tells_of_the_payments_that_it_cancels,
    a_visitor_who_tries_again_cancels_with_one_event,
    single_events_are_kept_only_for_projects_that_ask,
    an_event_about_held_money_is_read_back_with_every_state_and_reason,
    the_events_of_a_payment_are_found_whenever_they_were_written,
    metadata_is_read_back_in_its_order,
    events_of_the_first_version_stay_and_further_kinds_can_be_asked_for,
    a_node_of_an_earlier_version_and_this_one_follow_each_other,
    lists_of_an_earlier_version_become_rows_in_their_order,
];

async fn asking(store: &Store, kinds: &[EventKind], webhook_url: Option<&str>) -> Project {
    let project = kept_project(store).await;
    let webhook_url = webhook_url.map(str::to_owned);
    let changed = Project { extra_events: kinds.to_vec(), webhook_url, ..project.clone() };
    keep(store, ProjectWrite::Changed { project: changed.clone() }).await;
    Project { version: 2, ..changed }
}

const URL: Option<&str> = Some("https://warung.example/hook");

/// The events of a project, oldest first.
async fn all_events(store: &Store, project: &Project) -> Vec<Event> {
    let mut events = store.events(project.id, EventFilter::default(), EVERYTHING).await.unwrap().items;
    events.reverse();
    events
}

/// Checks that these events were told at `at`, one for each payment, and returns whether they are to be sent.
async fn check(store: &Store, project: &Project, kind: EventKind, at: Timestamp, payments: &[PaymentId]) -> Vec<bool> {
    let events = all_events(store, project).await;
    let mut subjects: Vec<String> = events.iter().map(Event::subject).collect();
    let mut expected: Vec<String> = payments.iter().map(PaymentId::to_string).collect();
    subjects.sort();
    expected.sort();
    assert_eq!(subjects, expected);
    let mut sent = Vec::new();
    for event in events {
        assert_eq!((event.kind(), event.created_at, event.project_id), (kind, at, project.id));
        // Its id has the time of the event, and the rest of the payment's.
        let (id, stem) = (event.id.to_string(), mint::<domain::id::kind::Event>(at, [0; 10]).to_string());
        assert_eq!((&id[..14], &id[14..]), (&stem[..14], &event.subject()[14..]));
        let delivery = store.delivery(event.id).await.unwrap();
        sent.push(delivery.is_some_and(|delivery| delivery.state == DeliveryState::Pending { due_at: at }));
    }
    sent
}

async fn what_a_project_asks_for_is_read_back(database: Database) {
    let store = database.open().await;
    for kinds in [&EventKind::EXTRA[..], &[EventKind::PaymentHeld, EventKind::PaymentExpired], &[]] {
        let project = Project { extra_events: kinds.to_vec(), ..samples::project() };
        keep(&store, ProjectWrite::Created { project: project.clone(), sealed_webhook_secret: vec![1] }).await;
        assert_eq!(store.project(project.id).await.unwrap(), Some(project));
    }
    let changed = asking(&store, &EventKind::EXTRA, URL).await;
    assert_eq!(store.project(changed.id).await.unwrap(), Some(changed));
}

async fn expiries_are_told_to_projects_that_ask_and_sent_where_there_is_a_url(database: Database) {
    let store = database.open().await;
    let kinds = [EventKind::PaymentCancelled, EventKind::PaymentExpired];
    let (asks, silent) = (asking(&store, &kinds, URL).await, asking(&store, &kinds, None).await);
    let other = asking(&store, &[EventKind::PaymentHeld, EventKind::PaymentCancelled], URL).await;
    let mut ids = Vec::new();
    for project in [&asks, &silent, &other] {
        let over = || samples::with_terms(samples::payment(project), |terms| terms.expires_at = after(-1));
        ids.push([kept_payment(&store, over()).await.id, kept_payment(&store, over()).await.id]);
        kept_payment(&store, samples::payment(project)).await;
        kept_payment(&store, Payment { state: State::Processing, ..over() }).await;
    }
    keep(&store, PaymentWrite::PendingExpired { now: NOW, most: 100 }).await;
    assert_eq!(check(&store, &asks, EventKind::PaymentExpired, NOW, &ids[0]).await, [true, true]);
    assert_eq!(check(&store, &silent, EventKind::PaymentExpired, NOW, &ids[1]).await, [false, false]);
    check(&store, &other, EventKind::PaymentExpired, NOW, &[]).await;
}

async fn a_batch_of_expiries_tells_of_exactly_the_payments_that_it_expires(database: Database) {
    let store = database.open().await;
    let project = asking(&store, &EventKind::EXTRA, URL).await;
    let mut payments = Vec::new();
    for number in 0..9 {
        // Most of them expire at the same instant.
        let expires_at = after(if number == 4 { -2 } else { -1 });
        payments.push(
            kept_payment(
                &store,
                samples::with_terms(samples::payment(&project), |terms| terms.expires_at = expires_at),
            )
            .await
            .id,
        );
    }
    for round in 1..=5 {
        keep(&store, PaymentWrite::PendingExpired { now: NOW, most: 2 }).await;
        let mut expired = Vec::new();
        for id in &payments {
            let state = store.payment(*id).await.unwrap().unwrap().state;
            expired.extend((state == State::Expired).then_some(*id));
        }
        assert_eq!(expired.len(), (2 * round).min(9));
        assert_eq!(check(&store, &project, EventKind::PaymentExpired, NOW, &expired).await, vec![true; expired.len()]);
    }
}

async fn a_cancelled_link_tells_of_the_payments_that_it_cancels(database: Database) {
    let store = database.open().await;
    let (asks, other) = (asking(&store, &EventKind::EXTRA, URL).await, asking(&store, &[], URL).await);
    for project in [&asks, &other] {
        let link = kept_link(&store, project, true).await;
        let attempt = || samples::attempt(project, &link);
        let pending = [kept_payment(&store, attempt()).await.id, kept_payment(&store, attempt()).await.id];
        let claiming = kept_payment(&store, attempt()).await.id;
        kept_payment(&store, Payment { state: State::Processing, ..attempt() }).await;
        kept_payment(&store, samples::with_terms(attempt(), |terms| terms.expires_at = after(-1))).await;
        kept_payment(&store, samples::payment(project)).await;
        let told_of: &[PaymentId] = if project.extra_events.is_empty() { &[] } else { &pending };
        for _ in 0..2 {
            keep(&store, PaymentWrite::PendingCancelled { link_id: link.id, but: Some(claiming), at: NOW }).await;
            check(&store, project, EventKind::PaymentCancelled, NOW, told_of).await;
        }
    }
}

async fn a_visitor_who_tries_again_cancels_with_one_event(database: Database) {
    let store = database.open().await;
    let project = asking(&store, &[EventKind::PaymentCancelled], URL).await;
    let link = kept_link(&store, &project, true).await;
    let payments = [samples::attempt(&project, &link), samples::attempt(&project, &link)];
    for payment in &payments {
        keep(&store, attempted(payment, Some("visitor"), WIDE)).await;
    }
    keep(&store, attempted(&samples::attempt(&project, &link), Some("another"), WIDE)).await;
    assert_eq!(check(&store, &project, EventKind::PaymentCancelled, NOW, &[payments[0].id]).await, [true]);
}

fn held(project: &Project, payment: PaymentId, state: State, reason: Unapplied) -> Event {
    let money = HeldMoney { receipt: mint(NOW, entropy()), amount: Rupiah::new(7), reason, paid_at: after(-9) };
    let (expires_at, word) = (after(77), SuccessWord::Succeeded);
    let news = News::PaymentHeld { payment, state, expires_at, word, money };
    Event { id: mint(NOW, entropy()), project_id: project.id, created_at: NOW, news }
}

async fn single_events_are_kept_only_for_projects_that_ask(database: Database) {
    let store = database.open().await;
    let payment = mint(NOW, entropy());
    for kind in EventKind::EXTRA {
        for (asked, url) in [(true, URL), (true, None), (false, URL)] {
            let asked_for: Vec<EventKind> =
                EventKind::EXTRA.into_iter().filter(|other| (*other == kind) == asked).collect();
            let project = asking(&store, &asked_for, url).await;
            let news = match (kind, kind.refund_news()) {
                (EventKind::PaymentExpired, _) => News::PaymentExpired { payment },
                (EventKind::PaymentCancelled, _) => News::PaymentCancelled { payment },
                (_, Some(news)) => News::Refund { refund: mint(NOW, entropy()), news },
                _ => held(&project, payment, State::Pending, Unapplied::TooLate).news,
            };
            let event = Event { id: mint(NOW, entropy()), project_id: project.id, created_at: NOW, news };
            keep(&store, WebhookWrite::Event(event.clone())).await;
            let kept = store.event(project.id, event.id).await.unwrap();
            assert_eq!(kept, asked.then_some(event.clone()), "{kind:?} {url:?}");
            assert_eq!(store.delivery(event.id).await.unwrap().is_some(), asked && url.is_some(), "{kind:?} {url:?}");
        }
    }
}

async fn an_event_about_held_money_is_read_back_with_every_state_and_reason(database: Database) {
    let store = database.open().await;
    let project = asking(&store, &EventKind::EXTRA, URL).await;
    let at = after(-3);
    let ended = [State::Paid { at }, State::Failed { at }, State::Cancelled { at }];
    for state in [State::Pending, State::Processing, State::Expired].into_iter().chain(ended) {
        for reason in Unapplied::ALL {
            let event = held(&project, mint(NOW, entropy()), state, reason);
            keep(&store, WebhookWrite::Event(event.clone())).await;
            assert_eq!(store.event(project.id, event.id).await.unwrap(), Some(event.clone()));
            let logged = store.event_log(project.id, Default::default(), EVERYTHING).await.unwrap().items;
            assert!(logged.iter().any(|logged| logged.event == event && logged.delivery.is_some()));
        }
    }
}

async fn the_events_of_a_payment_are_found_whenever_they_were_written(database: Database) {
    let store = database.open().await;
    let project = asking(&store, &EventKind::EXTRA, URL).await;
    let payment = kept_payment(&store, samples::payment(&project)).await;
    kept_payment(&store, samples::payment(&project)).await;
    let about = held(&project, payment.id, State::Pending, Unapplied::WrongAmount);
    keep(&store, WebhookWrite::Event(about.clone())).await;
    // Long after its expiry, as after a server was away.
    let late = after(1_000_000_000);
    keep(&store, PaymentWrite::PendingExpired { now: late, most: 100 }).await;
    let found = store.events_about(project.id, &payment.id.to_string()).await.unwrap();
    assert_eq!(found.iter().map(Event::kind).collect::<Vec<_>>(), [EventKind::PaymentHeld, EventKind::PaymentExpired]);
    assert_eq!((&found[0], found[1].created_at), (&about, late));
}

async fn metadata_is_read_back_in_its_order(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let member = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    let members = vec![member("z", "É\n'\"%_\\"), member("a", ""), member("😀", "2")];
    for metadata in [None, Some(Metadata::default()), Some(Metadata { members })] {
        let link = domain::link::Link { metadata: metadata.clone(), ..samples::link(&project) };
        keep(&store, store::LinkWrite::Created { link: link.clone() }).await;
        assert_eq!(store.link(link.id).await.unwrap(), Some(link.clone()));
        let payment = samples::with_terms(samples::attempt(&project, &link), |terms| terms.metadata = metadata.clone());
        let direct = samples::with_terms(samples::payment(&project), |terms| terms.metadata = metadata);
        for payment in [payment, direct] {
            kept_payment(&store, payment.clone()).await;
            assert_eq!(store.payment(payment.id).await.unwrap(), Some(payment.clone()));
            let listed = store.payments(project.id, &Default::default(), EVERYTHING).await.unwrap().items;
            assert!(listed.contains(&payment));
        }
    }
}

async fn events_of_the_first_version_stay_and_further_kinds_can_be_asked_for(database: Database) {
    let database = database.first_version();
    let (id, payment, now): (ProjectId, PaymentId, _) = (mint(NOW, entropy()), mint(NOW, entropy()), NOW.as_millis());
    let [failed, paid]: [EventId; 2] = [mint(after(-1), entropy()), mint(NOW, entropy())];
    let secret = if database.is_typed() { "'\\x01'" } else { "x'01'" };
    let sql = format!(
        "INSERT INTO projects (id, name, environment, merchant_name, merchant_city, merchant_postal_code, active, approved, \
         success_word, webhook_url, webhook_secret, banks, default_methods, created_at, version) VALUES ('{id}', 'Warung', \
         'sandbox', 'WARUNG', 'BANDUNG', '40111', 1, 1, 'paid', 'https://warung.example', {secret}, '', 'qris', {now}, 1); \
         INSERT INTO payments (id, project_id, reference, search_text, amount, fee, method, code, state, created_at, \
         expires_at, version) VALUES ('{payment}', '{id}', 'INV', 'inv', 10000, 70, 'qris', 'code', 'pending', {now}, {now}, 1); \
         INSERT INTO events VALUES ('{failed}', '{id}', 'payment.failed', '{payment}', {now}, NULL, NULL); \
         INSERT INTO events VALUES ('{paid}', '{id}', 'payment.paid', '{payment}', {now}, {now}, 'succeeded'); \
         INSERT INTO deliveries VALUES ('{paid}', '{id}', 'pending', {now}, 0, 0);"
    );
    database.run_beside(&sql).unwrap();
    let store = database.open().await;
    let project = store.project(id).await.unwrap().unwrap();
    assert_eq!(
        (project.extra_events.as_slice(), store.payment(payment).await.unwrap().unwrap().terms.metadata),
        (&[][..], None)
    );
    let word = SuccessWord::Succeeded;
    let news = [News::PaymentFailed { payment }, News::PaymentPaid { payment, paid_at: NOW, word }];
    assert_eq!(all_events(&store, &project).await.iter().map(|event| event.news).collect::<Vec<_>>(), news);
    assert!(store.delivery(paid).await.unwrap().is_some());
    keep(
        &store,
        ProjectWrite::Changed { project: Project { extra_events: EventKind::EXTRA.to_vec(), ..project.clone() } },
    )
    .await;
    keep(&store, PaymentWrite::PendingExpired { now: after(1), most: 10 }).await;
    let kinds: Vec<EventKind> = all_events(&store, &project).await.iter().map(Event::kind).collect();
    assert_eq!(kinds, [EventKind::PaymentFailed, EventKind::PaymentPaid, EventKind::PaymentExpired]);
}

/// The list that a node of an earlier version reads.
fn assert_listed(database: &Database, project: &Project, list: &str) {
    let (rows, id) = (database.rows(), project.id.to_string());
    let row = rows.iter().find(|row| row.starts_with("projects:") && row.contains(&id)).unwrap();
    let others = EventKind::EXTRA.map(EventKind::word).into_iter().filter(|word| !list.contains(word));
    assert!(row.contains(list) && others.into_iter().all(|word| !row.contains(word)), "{list}: {row}");
}

/// What such a node runs when it stores a project with this list.
fn list(database: &Database, project: &Project, list: &str) {
    let sql = "UPDATE projects SET extra_events = '{list}', version = version + 1 WHERE id = '{id}'";
    let sql = sql.replace("{list}", list).replace("{id}", &project.id.to_string());
    database.run_beside(&sql).unwrap();
}

async fn a_node_of_an_earlier_version_and_this_one_follow_each_other(database: Database) {
    let store = database.open().await;
    let (project, other) = (asking(&store, &[], URL).await, asking(&store, &EventKind::EXTRA, URL).await);
    let kinds = |words: &str| words.split(',').filter_map(EventKind::parse_extra).collect::<Vec<_>>();
    let lists = [
        "payment.held,payment.expired",
        "payment.expired,payment.held",
        "payment.expired,payment.cancelled,payment.held",
        "",
        "payment.cancelled",
    ];
    for words in lists {
        for by_this_version in [true, false] {
            // What is there before differs from what is stored.
            for stored in ["payment.held,payment.cancelled", words] {
                let before = store.project(project.id).await.unwrap().unwrap();
                match by_this_version {
                    true => {
                        let changed = Project { extra_events: kinds(stored), ..before };
                        keep(&store, ProjectWrite::Changed { project: changed }).await;
                    }
                    false => list(&database, &project, stored),
                }
                assert_listed(&database, &project, stored);
                assert_eq!(store.project(project.id).await.unwrap().unwrap().extra_events, kinds(stored), "{stored}");
            }
        }
    }
    let over = samples::with_terms(samples::payment(&project), |terms| terms.expires_at = after(-1));
    let over = kept_payment(&store, over).await;
    list(&database, &project, "payment.expired");
    keep(&store, PaymentWrite::PendingExpired { now: NOW, most: 100 }).await;
    assert_eq!(check(&store, &project, EventKind::PaymentExpired, NOW, &[over.id]).await, [true]);
    assert_eq!(store.project(other.id).await.unwrap(), Some(other));
}

/// What takes the migration back which made rows of the lists, and the migration itself. Later ones stay, as they touch nothing of it.
fn migration(database: &Database) -> [&'static str; 2] {
    match database.is_typed() {
        true => [
            "DROP TRIGGER extra_events_listed ON projects; DROP TABLE extra_events; \
             DROP FUNCTION list_extra_events, read_extra_events;",
            include_str!("../../migrations/postgres/V27__extra_events.sql"),
        ],
        false => [
            "DROP TRIGGER extra_events_listed; DROP TABLE extra_events;",
            include_str!("../../migrations/sqlite/V27__extra_events.sql"),
        ],
    }
}

async fn lists_of_an_earlier_version_become_rows_in_their_order(database: Database) {
    let store = database.open().await;
    let all_of_then = [EventKind::PaymentHeld, EventKind::PaymentCancelled, EventKind::PaymentExpired];
    let asked_for: [&[EventKind]; 4] =
        [&all_of_then, &[EventKind::PaymentHeld, EventKind::PaymentExpired], &[EventKind::PaymentCancelled], &[]];
    let mut projects = Vec::new();
    for kinds in asked_for {
        projects.push(asking(&store, kinds, URL).await);
    }
    store.close().await;
    for sql in migration(&database) {
        database.run_beside(sql).unwrap();
    }
    let store = database.open().await;
    for project in projects {
        assert_eq!(store.project(project.id).await.unwrap(), Some(project));
    }
}
