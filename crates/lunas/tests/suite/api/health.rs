//! `/healthz` and `/readyz`: a server that is stopping is still alive, but no longer ready.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use testkit::{Kit, Reply, Socket, on_sqlite_alone};
use tokio::net::TcpStream;

on_sqlite_alone![a_server_that_is_stopping_is_alive_and_not_ready];

const PATIENCE: Duration = Duration::from_secs(30);

/// A request of which the server has read the beginning, so that it is in flight when the server is asked to stop.
async fn begun(address: SocketAddr, path: &str) -> Socket {
    let mut socket = Socket::connect(address).await;
    socket.send(format!("GET {path} HT").as_bytes()).await;
    socket
}

/// Sends the rest of the request and reads its answer.
async fn finished(mut socket: Socket) -> Reply {
    socket.send(b"TP/1.1\r\nHost: lunas.test\r\n\r\n").await;
    socket.answer().await.expect("a request in flight is answered")
}

async fn a_server_that_is_stopping_is_alive_and_not_ready(kit: Arc<Kit>) {
    let (ready, alive) = (begun(kit.address, "/readyz").await, begun(kit.address, "/healthz").await);
    // Connections are read in the order in which they came, so the server has read both beginnings when it answers these.
    for path in ["/readyz", "/healthz"] {
        assert_eq!(kit.anonymous().get(path).await.status, 200, "{path}");
    }
    kit.ask_to_stop();
    let refused = async {
        while TcpStream::connect(kit.address).await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, refused).await.expect("the server still takes connections");
    finished(ready).await.refused(503, "SERVICE_UNAVAILABLE");
    assert_eq!(finished(alive).await.status, 200);
    tokio::time::timeout(PATIENCE, kit.stopped()).await.expect("the server stops once both are answered");
}
