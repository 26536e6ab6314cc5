//! A handler that panics is a bug of ours: the client gets an error of the table and the server goes on.

use std::time::Duration;

use testkit::on_sqlite;

use crate::support::faulty_server::{FaultyServer, SECRET_DETAIL};

#[tokio::test]
async fn a_panic_is_500_with_the_envelope_and_reveals_nothing() {
    on_sqlite(async |kit| {
        let server = FaultyServer::start(&kit, Duration::from_secs(60)).await;
        let reply = server.get("/v1/panic").await;
        assert!(!reply.text.contains(SECRET_DETAIL), "{}", reply.text);
        assert_eq!(reply.header("content-type"), Some("application/json"));
        assert_eq!(reply.refused(500, "INTERNAL_ERROR"), "something failed on our side");
        assert_eq!(server.get("/healthz").await.status, 200, "the server goes on");
    })
    .await;
}
