//! A project whose lists take long makes no other project wait, and lists that nobody waits for any more are cancelled.

use std::sync::Arc;

use testkit::{Cluster, Kit, on_postgres};
use tokio::task::{JoinHandle, block_in_place};

use crate::support::wait::until;

/// Sessions of the server that wait for a lock.
const WAITING: &str = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() \
    AND application_name = 'lunas' AND wait_event_type = 'Lock'";
const RELEASE: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%''held''%' \
    AND datname = current_database() AND pid <> pg_backend_pid()";
const HELD: &str = "SELECT COUNT(*) FROM pg_stat_activity WHERE query LIKE '%''held''%' AND wait_event = 'PgSleep' \
    AND datname = current_database()";

fn sql(kit: &Kit, text: &str) -> String {
    block_in_place(|| Cluster::shared().run(&kit.database.url(), text).unwrap())
}

/// A lock on the links makes every list of them take as long as the test wants.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_projects_slow_lists_delay_no_other_project_and_end_when_their_clients_hang_up() {
    on_postgres(async |kit: Arc<Kit>| {
        let (slow, other) = (Arc::new(kit.sandbox().await), kit.sandbox().await);
        let url = kit.database.url();
        let lock = "BEGIN; LOCK TABLE links IN ACCESS EXCLUSIVE MODE; SELECT 'held', pg_sleep(600)";
        let holding = std::thread::spawn(move || Cluster::shared().run(&url, lock));
        until(async || sql(&kit, HELD) == "1").await;

        let lists: Vec<JoinHandle<_>> = (0..16)
            .map(|_| {
                let slow = Arc::clone(&slow);
                tokio::spawn(async move { slow.api.get("/v1/payment-links?search=x").await })
            })
            .collect();
        until(async || sql(&kit, WAITING) == "3").await;
        other.api.get("/v1/payments").await.expect(200);
        assert!(lists.iter().all(|list| !list.is_finished()), "it did not wait for them");
        assert_eq!(sql(&kit, WAITING), "3", "one project never gets all turns");

        lists.iter().for_each(JoinHandle::abort);
        until(async || sql(&kit, WAITING) == "0").await;
        assert_eq!(sql(&kit, HELD), "1", "the lock is still there, so they were cancelled");
        sql(&kit, RELEASE);
        assert!(holding.join().unwrap().is_err());
        slow.api.get("/v1/payment-links?search=x").await.expect(200);
    })
    .await;
}
