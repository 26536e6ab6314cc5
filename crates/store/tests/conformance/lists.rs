//! Lists of payments and links: their order, their windows, and every filter compared with a model in plain Rust.

use domain::{
    bank::Bank,
    id::{LinkId, mint},
    link::Link,
    method::{Method, MethodKind},
    money::Rupiah,
    payment::{Payment, State, Status},
    project::Project,
    time::{HOUR_MILLIS, Timestamp},
};
use futures_util::future::join_all;
use store::{
    LinkFilter, LinkWrite, MATCHES_COUNTED, Matches, MethodFilter, PaymentFilter, PaymentOrder, PaymentWrite,
    ScannedPayment, Store, Sums, Window,
};

use crate::{
    database::{Database, keep, keep_many, on_every_database},
    samples::{self, EVERYTHING, NOW, after, entropy, kept_link, kept_payment, kept_project},
};

on_every_database![
    payments_are_listed_newest_first_in_windows_with_their_total,
    a_long_list_is_the_same_with_checkpoints_as_without_them,
    links_are_listed_newest_first_in_windows_with_their_total,
    every_combination_of_filters_lists_what_each_of_them_wants,
    an_expiry_counts_from_its_millisecond_whether_or_not_it_was_written_down,
    matches_are_counted_and_scanned_up_to_a_limit,
    lists_are_sorted_by_amount_only_where_they_are_short,
    links_are_listed_by_when_they_were_created,
    scans_beyond_the_limit_are_refused_and_the_others_answered,
];

const WINDOWS: [(i64, i64); 7] = [(0, 100), (0, 1), (1, 1), (2, 3), (4, 100), (100, 10), (0, 0)];

fn window_of<T: Clone>(items: &[T], (offset, limit): (i64, i64)) -> Vec<T> {
    items.iter().skip(offset as usize).take(limit as usize).cloned().collect()
}

/// Times of creation: not in the order in which the rows are written, and some of them equal.
const CREATED: [i64; 6] = [3, 1, 5, 1, 4, 2];

async fn payments_are_listed_newest_first_in_windows_with_their_total(database: Database) {
    let store = database.open().await;
    let (project, other, empty) = (kept_project(&store).await, kept_project(&store).await, kept_project(&store).await);
    let mut expected = Vec::new();
    for millis in CREATED {
        let created = |project| Payment {
            id: mint(after(millis), entropy()),
            created_at: after(millis),
            ..samples::payment(project)
        };
        expected.push(kept_payment(&store, created(&project)).await);
        kept_payment(&store, created(&other)).await;
    }
    expected.sort_by_key(|payment| (payment.created_at, payment.id.to_string()));
    expected.reverse();
    for (offset, limit) in WINDOWS {
        let window = Window { offset, limit };
        let listed = store.payments(project.id, &PaymentFilter::default(), window).await.unwrap();
        assert_eq!(listed.items, window_of(&expected, (offset, limit)), "{window:?}");
        assert_eq!(listed.total, 6);
    }
    let nothing = store.payments(empty.id, &PaymentFilter::default(), EVERYTHING).await.unwrap();
    assert_eq!((nothing.items, nothing.total), (Vec::new(), 0));
}

async fn a_long_list_is_the_same_with_checkpoints_as_without_them(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let made = |project, millis| Payment {
        id: mint(after(millis), entropy()),
        created_at: after(millis),
        ..samples::with_terms(samples::payment(project), |terms| terms.amount = Rupiah::new(1_000 + millis % 7))
    };
    let mut expected: Vec<Payment> = (0..3_500).map(|millis| made(&project, millis)).collect();
    let others = (0..10).map(|index| made(&other, index * 300));
    let all = expected.iter().cloned().chain(others).map(|payment| PaymentWrite::Created { payment });
    keep_many(&store, all).await;
    let hours = |hours: i64| after(hours * HOUR_MILLIS);
    // Too recent for checkpoints; an hour later all payments are old enough.
    for (now, checkpoints) in [(hours(1), 0), (hours(2), 3)] {
        assert_windows(&store, &project, &expected).await;
        while store.extend_list_checkpoints(now).await.unwrap() {}
        let kept = database.rows().iter().filter(|row| row.starts_with("payment_marks:")).count();
        assert_eq!(kept, checkpoints);
    }
    // The clock was set back: a payment below a checkpoint is counted all the same.
    expected.insert(1_501, made(&project, 1_500));
    expected[1_500..1_502].sort_by_key(|payment| payment.id.to_string());
    for payment in [expected[1_500].clone(), expected[1_501].clone()] {
        let is_new = store.payment(payment.id).await.unwrap().is_none();
        if is_new {
            kept_payment(&store, payment).await;
        }
    }
    assert_windows(&store, &project, &expected).await;
    while store.extend_list_checkpoints(hours(2)).await.unwrap() {}
    assert_windows(&store, &project, &expected).await;
    expected.extend((0..20).map(|index| made(&project, 10_000_000 + index)));
    for payment in &expected[3_501..] {
        kept_payment(&store, payment.clone()).await;
    }
    assert_windows(&store, &project, &expected).await;
    assert_eq!(store.payments(other.id, &PaymentFilter::default(), EVERYTHING).await.unwrap().total, 10);
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn assert_windows(store: &Store, project: &Project, expected: &[Payment]) {
    let newest_first: Vec<Payment> = expected.iter().rev().cloned().collect();
    for offset in [0, 1, 499, 500, 501, 1_500, 1_750, 2_499, 2_520, 3_400, 3_499, 3_519, 4_000] {
        let window = Window { offset, limit: 20 };
        let listed = store.payments(project.id, &PaymentFilter::default(), window).await.unwrap();
        assert_eq!(listed.total, expected.len() as i64);
        assert_eq!(listed.items, window_of(&newest_first, (offset, 20)), "{window:?}");
        let oldest_first = PaymentFilter { order: PaymentOrder::Oldest, ..PaymentFilter::default() };
        let found = store.payments_window(project.id, &oldest_first, window).await.unwrap();
        assert_eq!(found, window_of(expected, (offset, 20)), "oldest first: {window:?}");
    }
    let everything = PaymentFilter::default();
    assert_eq!(store.payments_matching(project.id, &everything).await.unwrap(), all_of(expected));
    // Ranges of the list use the same checkpoints.
    for (from, until) in [(0, 3_500), (0, 1), (999, 1_001), (1_000, 1_000), (700, 2_600), (2_999, 20_000_000)] {
        let created = (after(from), after(until));
        let filter = PaymentFilter { created: Some(created), ..PaymentFilter::default() };
        let is_in = |payment: &&Payment| created.0 <= payment.created_at && payment.created_at < created.1;
        let within: Vec<Payment> = newest_first.iter().filter(is_in).cloned().collect();
        for offset in [0, 1, 600, 1_899] {
            let listed = store.payments(project.id, &filter, Window { offset, limit: 7 }).await.unwrap();
            assert_eq!(listed.items, window_of(&within, (offset, 7)), "{from} to {until} from {offset}");
            assert_eq!(listed.total, within.len() as i64);
            let oldest_first = PaymentFilter { order: PaymentOrder::Oldest, ..filter.clone() };
            let found = store.payments_window(project.id, &oldest_first, Window { offset, limit: 7 }).await.unwrap();
            let expected: Vec<Payment> = within.iter().rev().cloned().collect();
            assert_eq!(found, window_of(&expected, (offset, 7)), "oldest first, {from} to {until} from {offset}");
        }
        assert_eq!(store.payments_matching(project.id, &filter).await.unwrap(), all_of(&within), "{from} to {until}");
        assert_eq!(scanned(store, project, &filter, 500).await, within, "{from} to {until}");
    }
}

fn all_of(payments: &[Payment]) -> Matches {
    let paid = || payments.iter().filter(|payment| payment.paid_at().is_some());
    Matches::All(Sums {
        payments: payments.len() as i64,
        paid: paid().count() as i64,
        amount: paid().map(|payment| payment.terms.amount).sum(),
        fee: paid().map(|payment| payment.terms.fee).sum(),
    })
}

async fn matches_are_counted_and_scanned_up_to_a_limit(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let rare = samples::with_terms(samples::payment(&project), |terms| terms.reference = "rare".to_owned());
    let rare = kept_payment(&store, rare).await;
    let more = |count| (0..count).map(|_| PaymentWrite::Created { payment: samples::payment(&project) });
    keep_many(&store, more(MATCHES_COUNTED - 1)).await;
    let pending = PaymentFilter { status: Some((Status::Pending, NOW)), ..PaymentFilter::default() };
    let matching = async |filter: &PaymentFilter| store.payments_matching(project.id, filter).await.unwrap();
    let unpaid = |payments| Matches::All(Sums { payments, ..Sums::default() });
    assert_eq!(matching(&pending).await, unpaid(MATCHES_COUNTED));
    keep_many(&store, more(1)).await;
    assert_eq!(matching(&pending).await, Matches::More);
    // Lists of everything, and those of a method or of what has ended, are counted however long they are.
    let of_method = PaymentFilter { method: Some(MethodFilter::One(Method::Qris)), ..PaymentFilter::default() };
    for filter in [&PaymentFilter::default(), &of_method] {
        assert_eq!(matching(filter).await, unpaid(MATCHES_COUNTED + 1));
    }
    let listed = store.payments(project.id, &pending, Window { offset: MATCHES_COUNTED, limit: 5 }).await.unwrap();
    assert_eq!((listed.items.len(), listed.total), (1, MATCHES_COUNTED + 1), "the API counts all");
    let filter = PaymentFilter { search: Some("RARE".to_owned()), ..PaymentFilter::default() };
    assert_eq!(matching(&filter).await, all_of(std::slice::from_ref(&rare)));
    // A scan goes on where the last one has found nothing.
    let first = store.payments_scan(project.id, &filter, None, 20).await.unwrap();
    assert!(first.payments.is_empty() && first.before.is_some());
    assert_eq!(scanned(&store, &project, &filter, 20).await, [rare]);
    assert_eq!(scanned(&store, &project, &of_method, 500).await.len() as i64, MATCHES_COUNTED + 1);
}

/// The whole list, as a download reads it.
async fn scanned(store: &Store, project: &Project, filter: &PaymentFilter, most: i64) -> Vec<Payment> {
    let (mut all, mut before) = (Vec::new(), None);
    loop {
        let scan = store.payments_scan(project.id, filter, before, most).await.unwrap();
        assert!(scan.payments.len() as i64 <= most);
        all.extend(scan.payments.into_iter().map(|scanned: ScannedPayment| scanned.payment));
        match scan.before {
            Some(next) => before = Some(next),
            None => return all,
        }
    }
}

async fn links_are_listed_newest_first_in_windows_with_their_total(database: Database) {
    let store = database.open().await;
    let (project, other, empty) = (kept_project(&store).await, kept_project(&store).await, kept_project(&store).await);
    let mut expected = Vec::new();
    for millis in CREATED {
        for (owner, is_ours) in [(&project, true), (&other, false)] {
            let id = mint(after(millis), entropy());
            let link = Link { id, created_at: after(millis), ..samples::link(owner) };
            keep(&store, LinkWrite::Created { link: link.clone() }).await;
            expected.extend(is_ours.then_some(link));
        }
    }
    expected.sort_by_key(|link| (link.created_at, link.id.to_string()));
    expected.reverse();
    for (offset, limit) in WINDOWS {
        let window = Window { offset, limit };
        let listed = store.links(project.id, &LinkFilter::default(), window).await.unwrap();
        assert_eq!(listed.items, window_of(&expected, (offset, limit)), "{window:?}");
        assert_eq!(listed.total, 6);
    }
    let nothing = store.links(empty.id, &LinkFilter::default(), EVERYTHING).await.unwrap();
    assert_eq!((nothing.items, nothing.total), (Vec::new(), 0));
}

/// Payments of every state, method and origin whose references are easily mistaken for each other, newest last.
async fn varied_payments(store: &Store, project: &Project, links: &[Link]) -> Vec<Payment> {
    let states = [
        (State::Pending, after(-1)),
        (State::Pending, NOW),
        (State::Pending, after(1)),
        (State::Processing, after(-1)),
        (State::Paid { at: NOW }, after(-1)),
        (State::Failed { at: NOW }, after(1)),
        (State::Expired, after(-1)),
        (State::Cancelled { at: NOW }, after(1)),
    ];
    let references = ["Kopi É", "kopi %_", "TEH"];
    let mut payments = Vec::new();
    for (number, (state, expires_at)) in states.into_iter().cycle().take(48).enumerate() {
        let method = match number % 5 {
            0 => Method::VirtualAccount(Bank::Bca),
            1 => Method::VirtualAccount(Bank::Bri),
            _ => Method::Qris,
        };
        let link_id: Option<LinkId> = links.get(number / 8 % 3).map(|link| link.id);
        let created_at = after(number as i64);
        let payment = Payment { id: mint(created_at, entropy()), created_at, ..samples::payment(project) };
        let (code, reference) = (payment.id.to_string(), references[number % 3].to_owned());
        let amount = Rupiah::new(1_000 + number as i64);
        let payment = Payment {
            state,
            code,
            ..samples::with_terms(payment, |terms| {
                terms.expires_at = expires_at;
                terms.method = method;
                terms.reference = reference;
                terms.link_id = link_id;
                terms.amount = amount;
            })
        };
        payments.push(kept_payment(store, payment).await);
    }
    payments
}

/// What the filter means, as a predicate.
fn is_wanted(payment: &Payment, filter: &PaymentFilter) -> bool {
    let PaymentFilter { search, link_id, status, method, created, q: _, order: _ } = filter;
    let found = |term: &String| payment.terms.reference.to_lowercase().contains(&term.to_lowercase());
    search.as_ref().is_none_or(found)
        && link_id.is_none_or(|link_id| payment.terms.link_id == Some(link_id))
        && status.is_none_or(|(status, now)| payment.status_at(now) == status)
        && method.is_none_or(|wanted| match wanted {
            MethodFilter::Kind(kind) => payment.terms.method.kind() == kind,
            MethodFilter::One(method) => payment.terms.method == method,
        })
        && created.is_none_or(|(from, until)| from <= payment.created_at && payment.created_at < until)
}

async fn every_combination_of_filters_lists_what_each_of_them_wants(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let mut links = Vec::new();
    for owner in [&project, &project, &other, &other] {
        links.push(kept_link(&store, owner, true).await);
    }
    let mut payments = varied_payments(&store, &project, &links[..2]).await;
    varied_payments(&store, &other, &links[2..]).await;
    payments.reverse();

    let statuses: Vec<_> = std::iter::once(None).chain(Status::ALL.map(|status| Some((status, NOW)))).collect();
    let methods = [
        None,
        Some(MethodFilter::Kind(MethodKind::Qris)),
        Some(MethodFilter::Kind(MethodKind::VirtualAccount)),
        Some(MethodFilter::One(Method::VirtualAccount(Bank::Bca))),
        Some(MethodFilter::One(Method::VirtualAccount(Bank::Bri))),
        Some(MethodFilter::One(Method::Qris)),
        None,
    ];
    // A number that shares no factor with the number of methods, so that every pair occurs.
    let created = [None, Some((NOW, after(20))), Some((after(7), after(30))), Some((after(5), after(5)))];
    let mut combinations = 0;
    for search in [None, Some("é"), Some("KOPI"), Some("%_"), Some("nothing")] {
        for link_id in [None, Some(links[0].id), Some(links[2].id)] {
            for status in &statuses {
                for (method, created) in methods.iter().zip(created.iter().cycle()) {
                    let (method, created) = (*method, *created);
                    let search = search.map(str::to_owned);
                    let status = *status;
                    let filter = PaymentFilter { search, link_id, status, method, created, ..PaymentFilter::default() };
                    let expected: Vec<Payment> =
                        payments.iter().filter(|payment| is_wanted(payment, &filter)).cloned().collect();
                    let listed = store.payments(project.id, &filter, Window { offset: 1, limit: 4 }).await.unwrap();
                    assert_eq!(listed.items, window_of(&expected, (1, 4)), "{filter:?}");
                    assert_eq!(listed.total, expected.len() as i64, "{filter:?}");
                    let matching = store.payments_matching(project.id, &filter).await.unwrap();
                    assert_eq!(matching, all_of(&expected), "{filter:?}");
                    let window = Window { offset: 1, limit: 4 };
                    assert_eq!(store.payments_window(project.id, &filter, window).await.unwrap(), listed.items);
                    assert_eq!(scanned(&store, &project, &filter, 7).await, expected, "{filter:?}");
                    assert_eq!(pages(&store, &project, &filter).await, expected, "{filter:?}");
                    assert_orders(&store, &project, &filter, &expected).await;
                    combinations += usize::from(!expected.is_empty());
                }
            }
        }
    }
    assert!(combinations > 100, "the samples answer few filters: {combinations}");
}

/// Every order of a short list. `expected` are its payments, newest first.
async fn assert_orders(store: &Store, project: &Project, filter: &PaymentFilter, expected: &[Payment]) {
    for order in [PaymentOrder::Oldest, PaymentOrder::AmountHighest, PaymentOrder::AmountLowest] {
        let mut sorted = expected.to_vec();
        match order {
            PaymentOrder::Newest => {}
            PaymentOrder::Oldest => sorted.reverse(),
            PaymentOrder::AmountHighest => sorted.sort_by_key(|payment| -payment.terms.amount.get()),
            PaymentOrder::AmountLowest => sorted.sort_by_key(|payment| payment.terms.amount.get()),
        }
        let filter = PaymentFilter { order, ..filter.clone() };
        let window = Window { offset: 1, limit: 4 };
        let found = store.payments_window(project.id, &filter, window).await.unwrap();
        assert_eq!(found, window_of(&sorted, (1, 4)), "{filter:?}");
    }
}

async fn lists_are_sorted_by_amount_only_where_they_are_short(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let of = |millis: i64, amount: i64| {
        let created_at = after(millis);
        Payment {
            id: mint(created_at, entropy()),
            created_at,
            ..samples::with_terms(samples::payment(&project), |terms| terms.amount = Rupiah::new(amount))
        }
    };
    let payments: Vec<Payment> = (0..=MATCHES_COUNTED).map(|millis| of(millis, 1_000 + millis % 7)).collect();
    let (newest, rest) = (payments[payments.len() - 1].id, &payments[..payments.len() - 1]);
    let created = |payment: &Payment| PaymentWrite::Created { payment: payment.clone() };
    keep_many(&store, rest.iter().map(created)).await;
    let highest = async |status: Option<Status>| {
        let status = status.map(|status| (status, NOW));
        let filter = PaymentFilter { status, order: PaymentOrder::AmountHighest, ..PaymentFilter::default() };
        let first = store.payments_window(project.id, &filter, Window { offset: 0, limit: 1 }).await.unwrap();
        let matches = store.payments_matching(project.id, &filter).await.unwrap();
        (first[0].id, first[0].terms.amount.get(), matches.can_be_sorted_by_amount())
    };
    for status in [None, Some(Status::Pending)] {
        let (_, amount, can_be_sorted) = highest(status).await;
        assert_eq!((amount, can_be_sorted), (1_006, true), "{status:?}");
    }
    keep_many(&store, payments[rest.len()..].iter().map(created)).await;
    for status in [None, Some(Status::Pending)] {
        let (first, _, can_be_sorted) = highest(status).await;
        assert_eq!((first, can_be_sorted), (newest, false), "{status:?}");
    }
}

async fn links_are_listed_by_when_they_were_created(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    for millis in 0..5 {
        let id = mint(after(millis), entropy());
        let link = Link { id, reference: millis.to_string(), created_at: after(millis), ..samples::link(&project) };
        keep(&store, LinkWrite::Created { link }).await;
    }
    for (from, until, expected) in [(1, 3, "21"), (0, 5, "43210"), (3, 3, ""), (9, 99, "")] {
        let filter = LinkFilter { created: Some((after(from), after(until))), ..LinkFilter::default() };
        let listed = store.links(project.id, &filter, EVERYTHING).await.unwrap();
        let found: String = listed.items.iter().map(|link| link.reference.as_str()).collect();
        assert_eq!((found.as_str(), listed.total), (expected, expected.len() as i64), "{from} to {until}");
    }
}

/// The whole list, a few payments at a time.
async fn pages(store: &Store, project: &Project, filter: &PaymentFilter) -> Vec<Payment> {
    let mut all: Vec<Payment> = Vec::new();
    loop {
        let before = all.last().map(|payment| payment.id);
        let page = store.payments_page(project.id, filter, before, 20).await.unwrap();
        assert!(page.len() <= 20);
        if page.is_empty() {
            return all;
        }
        all.extend(page);
    }
}

async fn listed_as(store: &Store, project: &Project, status: Status, now: Timestamp) -> Vec<String> {
    let filter = PaymentFilter { status: Some((status, now)), ..PaymentFilter::default() };
    let listed = store.payments(project.id, &filter, EVERYTHING).await.unwrap();
    assert_eq!(listed.total, listed.items.len() as i64);
    assert!(listed.items.iter().all(|payment| payment.status_at(now) == status));
    listed.items.into_iter().map(|payment| payment.terms.reference).collect()
}

async fn an_expiry_counts_from_its_millisecond_whether_or_not_it_was_written_down(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    for (reference, end) in [("a", -1), ("b", 0), ("c", 1)] {
        let payment = samples::payment(&project);
        kept_payment(
            &store,
            samples::with_terms(payment, |terms| {
                terms.reference = reference.to_owned();
                terms.expires_at = after(end);
            }),
        )
        .await;
    }
    for (now, pending, expired) in [
        (after(-1), &["c", "b", "a"][..], &[][..]),
        (NOW, &["c", "b"], &["a"]),
        (after(1), &["c"], &["b", "a"]),
        (after(2), &[], &["c", "b", "a"]),
    ] {
        for written_down in [false, true] {
            if written_down && store.any_to_expire(now).await.unwrap() {
                keep(&store, PaymentWrite::PendingExpired { now, most: 100 }).await;
            }
            let found = listed_as(&store, &project, Status::Pending, now).await;
            assert_eq!(found, pending, "pending at {now}, written down: {written_down}");
            let found = listed_as(&store, &project, Status::Expired, now).await;
            assert_eq!(found, expired, "expired at {now}, written down: {written_down}");
        }
    }
}

async fn scans_beyond_the_limit_are_refused_and_the_others_answered(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let filter = PaymentFilter::default();
    let window = Window { offset: 0, limit: 1 };
    let scans = join_all((0..2_000).map(|_| store.payments(project.id, &filter, window))).await;
    let answered = scans.iter().filter(|scan| scan.is_ok()).count();
    assert!((256..2_000).contains(&answered), "{answered} of 2,000 scans at once were answered");
    assert!(store.payments(project.id, &filter, window).await.is_ok());
}
