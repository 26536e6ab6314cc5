//! Proves that a page of refunds, and counting those that fit a filter, read no more of a long list than of a short one.

use domain::{
    id::{PaymentId, first_id_at, kind, mint},
    refund::RefundStatus,
    time::Timestamp,
};

use crate::{
    list_costs::{FEW, MANY, NOW, WINDOW, check_plans, check_steps, project},
    read::refunds::{RefundFilter, count, page},
    value::Query,
};

/// So many refunds of each project are of one payment, in one batch, and of a later day.
const SOME: i64 = 60;
/// The letters of an id's kind, and the characters that say when it was made.
const STEM: usize = 14;

fn later(millis: i64) -> Timestamp {
    Timestamp::from_millis(NOW.as_millis() + 86_400_000 + millis)
}

fn payment(refunds: i64) -> PaymentId {
    mint(NOW, [u8::try_from(refunds / FEW).unwrap(); 10])
}

/// A project with few refunds and one with many. One refund in five is pending.
fn rows() -> String {
    let stem = |at: Timestamp| first_id_at::<kind::Refund>(at).to_string()[..STEM].to_owned();
    let of = |count: i64| {
        format!(
            "INSERT INTO refunds (id, project_id, payment_id, amount, from_pending, from_available, from_fee, fee_returned, \
             from_unapplied, status, pending_reason, road, reason, destination_checked, claim_tries, made_by, batch, \
             created_at, updated_at, succeeded_at, version) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 \
             FROM n WHERE i < {count}) SELECT CASE WHEN i > {count} - {SOME} THEN '{later}' ELSE '{early}' END || \
             CAST(1000000000000000 + CAST({count} AS BIGINT) * 1000000 + i AS TEXT), '{project}', \
             CASE WHEN i <= {SOME} THEN '{payment}' ELSE 'pay_' || CAST({count} + i AS TEXT) END, \
             1, 1, 0, 0, 0, 0, CASE WHEN i % 5 = 0 THEN 'pending' ELSE 'succeeded' END, \
             CASE WHEN i % 5 = 0 THEN 'processing' END, 'qris', '', 0, 0, 'cli', CASE WHEN i <= {SOME} THEN 7 END, 1, 1, \
             CASE WHEN i % 5 <> 0 THEN 1 END, 1 FROM n; ",
            later = stem(later(0)),
            early = stem(NOW),
            project = project(count),
            payment = payment(count)
        )
    };
    of(FEW) + &of(MANY)
}

/// The statements for pages of what the API and the dashboard let people choose, and those that count what is not kept counted.
fn queries(refunds: i64) -> Vec<Query> {
    let day = Some((later(-1), later(1)));
    let all = RefundFilter::default();
    let of_payment = RefundFilter { payment: Some(payment(refunds)), ..all };
    let of_day = RefundFilter { created: day, ..all };
    let done_of_day = RefundFilter { created: day, status: Some(RefundStatus::Succeeded), ..all };
    let of_batch = RefundFilter { batch: Some(7), ..all };
    let done = RefundFilter { status: Some(RefundStatus::Succeeded), ..all };
    let pending = RefundFilter { status: Some(RefundStatus::Pending), ..all };
    let pages = [all, done, pending, of_payment, of_day, done_of_day, of_batch];
    let pages = pages.map(|filter| page(project(refunds), filter, WINDOW));
    let counts = [of_payment, of_day, done_of_day, of_batch].map(|filter| count(project(refunds), filter));
    pages.into_iter().chain(counts).collect()
}

#[tokio::test]
async fn a_long_list_of_refunds_costs_no_steps_on_sqlite() {
    let shortened = "UPDATE refunds SET project_id = (SELECT n.short FROM project_numbers n WHERE n.id = project_id), \
                     payment_id = payment_short(payment_id)";
    check_steps(&format!("{}; {shortened}", rows()), queries).await;
}

#[tokio::test]
async fn a_long_list_of_refunds_is_not_read_as_a_whole_on_postgres() {
    check_plans(&rows(), queries(MANY), |plan| assert!(!plan.contains("Seq Scan"), "{plan}")).await;
}
