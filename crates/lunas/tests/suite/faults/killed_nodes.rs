//! Two real servers on one PostgreSQL database are killed in turn while clients use both: nothing that was acknowledged
//! is lost, nothing is doubled, and every owed event arrives (I5, I7, I9 and I10, docs/invariants.md).

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use store::{CONNECTIONS, Store};
use testkit::{Answer, Api, Cluster, Receiver, Running};

use crate::support::{
    commands::{dev_at_fixed_url, program},
    history::{History, converge, create, judge, judge_webhooks, let_leases_run_out, pay},
    json::id,
    wait::{until, until_within},
};

const CLIENTS: usize = 8;
const KILLS: usize = 8;
const PATIENCE: Duration = Duration::from_secs(120);
/// How long a client waits before it tries the other node, so that it does not spin on one that is down.
const BACK_OFF: Duration = Duration::from_millis(10);

/// The nodes' current addresses, and the answers that clients got.
struct Shop {
    project_id: String,
    nodes: Mutex<[Api; 2]>,
    history: Mutex<History>,
    acknowledged: AtomicUsize,
    over: AtomicBool,
}

impl Shop {
    fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    /// Sends a request to the nodes in turn until one of them answers, or the test is over.
    async fn until_answered<Asked: Future<Output = Option<(u16, Value)>>>(
        &self,
        first: usize,
        ask: impl Fn(Api) -> Asked,
    ) -> Option<Value> {
        for turn in first.. {
            let api = self.nodes.lock().unwrap()[turn % 2].clone();
            match ask(api).await {
                Some((200 | 201, answer)) => {
                    self.acknowledged.fetch_add(1, Ordering::SeqCst);
                    return Some(answer);
                }
                Some((status, answer)) => assert_eq!(status, 503, "{answer}"),
                None => {}
            }
            if self.is_over() {
                return None;
            }
            tokio::time::sleep(BACK_OFF).await;
        }
        None
    }

    async fn client(self: Arc<Shop>, client: usize) {
        for number in 0.. {
            if self.is_over() {
                return;
            }
            let (key, first) = (format!("client-{client}-{number}"), client + number);
            self.history.lock().unwrap().created.insert(key.clone(), None);
            let created = self.until_answered(first, async |api: Api| create(&api, &self.project_id, &key).await).await;
            self.history.lock().unwrap().created.insert(key.clone(), created.clone());
            let Some(payment) = created else { return };
            if number % 2 == 0 {
                self.history.lock().unwrap().paid.insert(key.clone(), None);
                let paid = self.until_answered(first + 1, async |api: Api| pay(&api, &payment, &key).await).await;
                self.history.lock().unwrap().paid.insert(key, paid);
            }
        }
    }

    async fn acknowledges(&self, more: usize) {
        let enough = self.acknowledged.load(Ordering::SeqCst) + more;
        until_within(PATIENCE, async || self.acknowledged.load(Ordering::SeqCst) >= enough).await;
    }

    /// The payments that were acknowledged as paid, with the event that each of them owes.
    fn owed(&self) -> BTreeMap<String, &'static str> {
        let history = self.history.lock().unwrap();
        history.paid.values().flatten().map(|payment| (id(payment).to_owned(), "payment.paid")).collect()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_nodes_that_are_killed_by_turns_lose_nothing_and_send_every_event() {
    let (programs, url) = ([program(), program()], Cluster::shared().fresh_database());
    let start = |place: usize| dev_at_fixed_url(&programs[place], &["--database", &url]);
    let (program, receiver) = (&programs[0], Receiver::start().await);
    let first = start(0);
    // The other node has a directory of its own, with the same secret key and credentials.
    copy_files(&program.data(), &programs[1].data());
    let mut nodes = [first, start(1)].map(Some);
    let node = |nodes: &[Option<Running>; 2], place: usize| nodes[place].as_ref().map(Running::api).unwrap();
    let project_id = nodes[0].as_ref().unwrap().said("project_id").to_owned();
    let hook = ["--json", "--database", &url, "project", "update", &project_id, "--webhook-url", &receiver.url()];
    program.json(&hook);
    let shop = Arc::new(Shop {
        project_id,
        nodes: Mutex::new([0, 1].map(|place| node(&nodes, place))),
        history: Mutex::default(),
        acknowledged: AtomicUsize::new(0),
        over: AtomicBool::new(false),
    });
    let clients: Vec<_> = (0..CLIENTS).map(|client| tokio::spawn(Arc::clone(&shop).client(client))).collect();
    for kill in 0..KILLS {
        // One webhook is in flight at the kill; different numbers make the kills happen at different points.
        receiver.answer_next([Answer::Hang]);
        shop.acknowledges(30 + 13 * (kill % 4)).await;
        let fresh = tokio::task::block_in_place(|| {
            nodes[kill % 2].take().unwrap().kill();
            nodes[kill % 2] = Some(start(kill % 2));
            node(&nodes, kill % 2)
        });
        shop.nodes.lock().unwrap()[kill % 2] = fresh;
    }
    shop.acknowledges(30).await;
    shop.over.store(true, Ordering::SeqCst);
    for client in clients {
        tokio::time::timeout(PATIENCE, client).await.expect("a client hangs").unwrap();
    }
    let api = node(&nodes, 0);
    converge(&api, &shop.project_id, &shop.history).await;
    judge(&api, &shop.history).await;
    // Webhooks that hung were leased by nodes that are dead; those leases would last for half a minute.
    let store = Store::open_postgres(&url.parse().unwrap(), CONNECTIONS).await.unwrap();
    let_leases_run_out(store).await;
    judge_webhooks(&api, &receiver, &shop.owed()).await;
    let verified = program.json(&["verify", "--json", "--database", &url]);
    assert_eq!((&verified["ok"], &verified["breaches"]), (&json!(true), &json!([])));
}

/// Regression: what a killed node had leased waited for half a minute until the leases ran out. Here they last for an hour more.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_killed_node_had_leased_is_sent_by_another_and_by_itself_after_the_next_start() {
    let (programs, url) = ([program(), program()], Cluster::shared().fresh_database());
    let start = |place: usize| dev_at_fixed_url(&programs[place], &["--database", &url]);
    let receiver = Receiver::answering(Answer::Hang).await;
    let first = start(0);
    copy_files(&programs[0].data(), &programs[1].data());
    let project_id = first.said("project_id").to_owned();
    let hook = ["--json", "--database", &url, "project", "update", &project_id, "--webhook-url", &receiver.url()];
    programs[0].json(&hook);
    let sql = |text: &str| Cluster::shared().run(&url, text).unwrap();
    let leased = || sql("SELECT COUNT(*) FROM deliveries WHERE leased_by IS NOT NULL");
    let delivered = || sql("SELECT COUNT(*) FROM deliveries WHERE state = 'delivered'");
    let lengthen = || sql("UPDATE deliveries SET due_at = due_at + 3600000 WHERE leased_by IS NOT NULL");
    let pay_some = async |api: &Api, name: &str| {
        for number in 0..6 {
            let key = format!("{name}-{number}");
            let (_, payment) = create(api, &project_id, &key).await.unwrap();
            pay(api, &payment, &key).await.unwrap();
        }
        until(async || leased() == "6").await;
    };

    pay_some(&first.api(), "first").await;
    lengthen();
    let second = start(1);
    assert_eq!(leased(), "6", "the node that has them is alive");
    first.kill();
    receiver.answer(Answer::Status(200));
    until(async || delivered() == "6").await;

    receiver.answer(Answer::Hang);
    pay_some(&second.api(), "second").await;
    lengthen();
    second.kill();
    receiver.answer(Answer::Status(200));
    let _again = start(1);
    until(async || delivered() == "12").await;
    assert_eq!(sql("SELECT COUNT(*) FROM attempts"), "12", "what the killed nodes had begun is not recorded");
    let verified = programs[0].json(&["verify", "--json", "--database", &url]);
    assert_eq!((&verified["ok"], &verified["breaches"]), (&json!(true), &json!([])));
}

fn copy_files(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}
