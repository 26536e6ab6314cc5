//! Proves that a search with few hits reads no more of a project with many payments and links than of one with few, and nothing
//! of other projects, and that PostgreSQL goes through no table or index as a whole for it.

use domain::{
    bank::Bank,
    face::Face,
    id::{ENTROPY_BYTES, ProjectId, mint},
    link::{CustomerFields, Link},
    method::Method,
    money::Rupiah,
    payment::{Payment, PaymentTerms, State},
    pricing::Pricing,
    project::{Environment, MerchantProfile, Project, SuccessWord},
    search::SearchTerm,
    time::Timestamp,
};
use pgcluster::{Cluster, ScratchDatabase};
use rusqlite::{Connection, StatementStatus};

use crate::{
    CONNECTIONS, Change, LinkWrite, PaymentFilter, PaymentWrite, ProjectWrite, Store,
    read::{Conditions, link_search::NAMED},
    short_ids::{Projects, ShortIds},
    value::{Value, bind},
};

const FEW: u64 = 1_500;
const MANY: u64 = 12_000;
/// The largest difference in steps of SQLite's virtual machine. To read all of the larger project takes a hundred times as many.
const MORE_STEPS: i32 = 1_500;
/// Rows that a step of PostgreSQL's plan may read.
const READ_MOST: i64 = 50;
const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);
const LATER: Timestamp = Timestamp::from_millis(1_800_100_000_000);

fn project(number: u8) -> Project {
    Project {
        id: mint(NOW, [number; ENTROPY_BYTES]),
        name: "Warung".to_owned(),
        environment: Environment::Sandbox,
        merchant: MerchantProfile { name: "W".to_owned(), city: "B".to_owned(), postal_code: "40111".to_owned() },
        active: true,
        approved: true,
        success_word: SuccessWord::Paid,
        webhook_url: None,
        fees: domain::fee::FeeOverrides { qris_basis_points: None, virtual_account: None },
        banks: Vec::new(),
        default_methods: Vec::new(),
        frame_origins: Vec::new(),
        refunds: domain::refund_settings::RefundSettings::default(),
        accounts: Vec::new(),
        created_at: NOW,
        version: 1,
        extra_events: Vec::new(),
        face: Face::default(),
    }
}

fn payment(project_id: ProjectId, project: u8, index: u64) -> Payment {
    let mut entropy = [project; ENTROPY_BYTES];
    entropy[2..].copy_from_slice(&(index * 256 + u64::from(project)).to_be_bytes());
    let at = Timestamp::from_millis(NOW.as_millis() + index.cast_signed());
    let (reference, method) = (format!("order-{index}"), Method::VirtualAccount(Bank::Bca));
    let terms = PaymentTerms::direct(project_id, reference, Rupiah::new(10_000), method, at);
    let code = format!("{project}{:015}", index.wrapping_mul(0x9e37_79b9_7f4a_7c15) % 1_000_000_000_000_000);
    Payment { state: State::Expired, ..Payment::pending(mint(at, entropy), terms, code, at) }
}

/// The link that has the payment's account number in its reference.
fn link(payment: &Payment) -> Link {
    Link {
        id: mint(payment.created_at, payment.id.uuid().into_bytes()[6..].try_into().unwrap()),
        project_id: payment.terms.project_id,
        reference: format!("pl-{}", payment.code),
        title: "Kopi".to_owned(),
        description: String::new(),
        amount: payment.terms.amount,
        pricing: Pricing::Fixed,
        methods: vec![Method::Qris],
        allow_multiple_payments: true,
        customer_fields: CustomerFields::default(),
        metadata: None,
        return_url: None,
        expires_at: None,
        cancelled_at: None,
        claimed_by: None,
        created_at: payment.created_at,
        version: 1,
    }
}

/// Projects with so many payments and links each, all of them in the indexes; answers the last of them.
async fn filled(store: &Store, counts: &[u64]) -> (Project, u64) {
    let mut projects: Vec<(Project, u64)> = (1..).map(project).zip(counts.iter().copied()).collect();
    for (number, (project, count)) in (1..).zip(&projects) {
        let created = ProjectWrite::Created { project: project.clone(), sealed_webhook_secret: vec![1] };
        store.commit(created.into()).await.unwrap();
        for first in (0..*count).step_by(500) {
            let payments: Vec<Payment> = (first..first + 500).map(|index| payment(project.id, number, index)).collect();
            let links = payments.iter().map(|payment| LinkWrite::Created { link: link(payment) });
            store.commit(Change::default().with_all(links)).await.unwrap();
            let payments = payments.into_iter().map(|payment| PaymentWrite::Created { payment });
            store.commit(Change::default().with_all(payments)).await.unwrap();
        }
    }
    let last = projects.pop().unwrap();
    searches(store, &last).await;
    while store.extend_search_index(LATER).await.unwrap() {}
    last
}

/// A statement that finds one row, its parameters, and the index of PostgreSQL that serves it.
struct Search {
    sql: String,
    parameters: Vec<Value>,
    index: &'static str,
}

/// One payment is searched by its account number, one link by a part of its reference and by the whole of it.
async fn searches(store: &Store, (project, count): &(Project, u64)) -> [Search; 3] {
    let number = u8::try_from(*count / MANY + 1).unwrap();
    let payment = payment(project.id, number, count / 2);
    let filter = PaymentFilter { q: Some(SearchTerm::parse(&payment.code).unwrap()), ..PaymentFilter::default() };
    let Conditions { sql, parameters } = store.wanted(project.id, &filter).await.unwrap();
    let sql = format!("SELECT p.id FROM payments p {sql}");
    let of_payment = Search { sql, parameters, index: "payment_search_tokens" };
    let Conditions { sql, parameters } =
        store.wanted_links(project.id, std::slice::from_ref(&payment.code)).await.unwrap();
    let sql = format!("SELECT id FROM links {sql} ORDER BY id DESC LIMIT 20");
    let of_link = Search { sql, parameters, index: "link_search_tokens" };
    let parameters = vec![Value::stored(project.id), link(&payment).reference.into()];
    [of_payment, of_link, Search { sql: NAMED.to_owned(), parameters, index: "links_by_reference" }]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_payments_and_links_cost_a_search_no_steps_on_sqlite() {
    let (few, many) = (steps(&[FEW]).await, steps(&[FEW, MANY]).await);
    for (few, many) in few.iter().zip(&many) {
        assert!(*many <= few + MORE_STEPS, "{few} steps with few and {many} with many");
    }
}

/// The steps that SQLite takes for each search in the last of the projects.
async fn steps(counts: &[u64]) -> Vec<i32> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("lunas.db");
    let store = Store::open_sqlite(&path).await.unwrap();
    let project = filled(&store, counts).await;
    let connection = Connection::open(&path).unwrap();
    let mut steps = Vec::new();
    for Search { sql, parameters, .. } in searches(&store, &project).await {
        let mut statement = connection.prepare(&sql).unwrap();
        bind(&mut statement, &parameters, ShortIds::new(&connection, &Projects::default())).unwrap();
        let mut rows = statement.raw_query();
        let is_found = rows.next().unwrap().is_some();
        assert_eq!((is_found, rows.next().unwrap().is_some()), (true, false), "{sql}");
        drop(rows);
        steps.push(statement.get_status(StatementStatus::VmStep));
    }
    steps
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_payments_and_links_are_not_all_read_for_a_search_on_postgres() {
    let scratch = ScratchDatabase::empty();
    let store = Store::open_postgres(&scratch.url().parse().unwrap(), CONNECTIONS).await.unwrap();
    let project = filled(&store, &[FEW, MANY]).await;
    // Links that have waited leave dead rows behind, which a server in use removes by itself.
    Cluster::shared().run(scratch.url(), "VACUUM link_search_again").unwrap();
    for search in searches(&store, &project).await {
        assert_reads_little(scratch.url(), &search);
    }
}

fn assert_reads_little(url: &str, Search { sql, parameters, index }: &Search) {
    let given: Vec<String> = parameters.iter().map(Value::literal).collect();
    // As the connections that run searches are set; a plan for any parameters must do too.
    for cache in ["force_custom_plan", "force_generic_plan"] {
        let settings = format!("SET enable_seqscan = off; SET plan_cache_mode = {cache}; ANALYZE;");
        let explain = "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF)";
        let script = format!("{settings} PREPARE s AS {sql}; {explain} EXECUTE s({});", given.join(", "));
        let plan = Cluster::shared().run(url, &script).unwrap();
        assert!(plan.contains(index), "{plan}");
        for part in ["Seq Scan", "Hash Join", "Hash Semi Join", "Merge"] {
            assert!(!plan.contains(part), "{part}:\n{plan}");
        }
        // How many rows each step has read, and how many of them it has left out.
        let counts =
            plan.split(['=', ':']).filter_map(|piece| piece.trim().split([' ', ')', '\n']).next()?.parse().ok());
        let most: i64 = counts.max().unwrap();
        assert!(most <= READ_MOST, "{most} rows:\n{plan}");
    }
}
