//! Connections that a PostgreSQL server does not accept at once.

use std::{collections::BTreeSet, fs, net::SocketAddr, time::Duration};

use pgcluster::Cluster;
use store::{CONNECTIONS, Store};
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpSocket, TcpStream},
    time::{sleep, timeout},
};

/// A connection to this machine is accepted in far less time, while there is room in the server's queue.
const ACCEPTED_WITHIN: Duration = Duration::from_millis(300);
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// Longer than opening the store may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// In `/proc/net/tcp`: a connection that the other side has not accepted yet.
const NOT_ACCEPTED: &str = "02";

/// Regression: where the packets that begin a connection were lost, the store was not opened, and the server did not start.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_is_not_accepted_is_tried_once_more_from_another_port() {
    let database = Cluster::shared().fresh_database();
    let (door, address) = narrow_door();
    let queue = fill(address).await;
    let url = database.replace(&authority(&database), &address.to_string());
    let opening = tokio::spawn(async move { Store::open_postgres(&url.parse().unwrap(), CONNECTIONS).await });

    let mut ports = BTreeSet::new();
    let tried_again = async {
        while ports.len() < 2 {
            ports.extend(ports_that_wait_for(address.port()));
            sleep(POLL_INTERVAL).await;
        }
    };
    timeout(PATIENCE, tried_again).await.expect("it is not tried again");
    drop(queue);
    let leading = tokio::spawn(lead(door, authority(&database)));
    opening.await.unwrap().unwrap().close().await;
    leading.abort();
}

/// A door with room for two connections that nobody has accepted yet.
fn narrow_door() -> (TcpListener, SocketAddr) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    let door = socket.listen(1).unwrap();
    let address = door.local_addr().unwrap();
    (door, address)
}

/// Connects until there is no room any more.
async fn fill(address: SocketAddr) -> Vec<TcpStream> {
    let mut queue = Vec::new();
    while let Ok(connected) = timeout(ACCEPTED_WITHIN, TcpStream::connect(address)).await {
        queue.push(connected.unwrap());
    }
    queue
}

/// The ports on this machine from which a connection to `port` is begun.
fn ports_that_wait_for(port: u16) -> Vec<String> {
    let table = fs::read_to_string("/proc/net/tcp").unwrap();
    let to = format!(":{port:04X}");
    let waiting = table.lines().filter_map(|line| match line.split_whitespace().collect::<Vec<_>>()[..] {
        [_, from, remote, NOT_ACCEPTED, ..] if remote.ends_with(&to) => Some(from.to_owned()),
        _ => None,
    });
    waiting.collect()
}

/// Leads each client that comes through the door to the database.
async fn lead(door: TcpListener, to: String) {
    loop {
        let (mut client, _) = door.accept().await.unwrap();
        let mut server = TcpStream::connect(&to).await.unwrap();
        tokio::spawn(async move { copy_bidirectional(&mut client, &mut server).await });
    }
}

/// The host and the port of a URL.
fn authority(url: &str) -> String {
    let (_, behind) = url.split_once("://").unwrap();
    let whole = behind.split('/').next().unwrap();
    whole.rsplit('@').next().unwrap().to_owned()
}
