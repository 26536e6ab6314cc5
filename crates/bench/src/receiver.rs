//! Webhook receivers that record when webhooks arrived: one accepts everything at once, another takes few connections at once.

use std::{
    io,
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpSocket, TcpStream},
    sync::watch,
};

/// How long to wait for webhooks; they arrive long before that.
const PATIENCE: Duration = Duration::from_secs(60);
const ACCEPTED: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
const ACCEPTED_AND_CLOSED: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok";
/// Connections that wait for a receiver that takes few at once. The servers that come with Python have this number.
const FEW_WAIT: u32 = 5;

#[derive(Clone, Copy)]
struct Arrivals {
    count: u64,
    first: Instant,
    last: Instant,
}

pub(crate) struct Receiver {
    address: SocketAddr,
    arrivals: Arc<watch::Sender<Arrivals>>,
}

impl Receiver {
    pub(crate) async fn start() -> io::Result<Receiver> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let receiver = Receiver::at(&listener)?;
        let counted = Arc::clone(&receiver.arrivals);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(accept_all(stream, Arc::clone(&counted)));
            }
        });
        Ok(receiver)
    }

    /// One that answers one request after another and closes each connection. The system drops connections beyond the few that
    /// wait for it.
    pub(crate) fn shy() -> io::Result<Receiver> {
        let socket = TcpSocket::new_v4()?;
        socket.bind(([127, 0, 0, 1], 0).into())?;
        let listener = socket.listen(FEW_WAIT)?;
        let receiver = Receiver::at(&listener)?;
        let counted = Arc::clone(&receiver.arrivals);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                // A sender that has gone is no reason to stop.
                let _ = accept_one(stream, &counted).await;
            }
        });
        Ok(receiver)
    }

    fn at(listener: &TcpListener) -> io::Result<Receiver> {
        let (address, now) = (listener.local_addr()?, Instant::now());
        let arrivals = Arc::new(watch::Sender::new(Arrivals { count: 0, first: now, last: now }));
        Ok(Receiver { address, arrivals })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    /// Counts from zero again.
    pub(crate) fn reset(&self) {
        self.arrivals.send_modify(|arrivals| arrivals.count = 0);
    }

    /// Waits until `count` webhooks have arrived; answers when the last one did, and how long after the first.
    pub(crate) async fn received(&self, count: u64) -> io::Result<(Instant, Duration)> {
        let mut arrivals = self.arrivals.subscribe();
        let all = arrivals.wait_for(|arrivals| arrivals.count >= count);
        let all = *tokio::time::timeout(PATIENCE, all).await?.map_err(io::Error::other)?;
        Ok((all.last, all.last - all.first))
    }
}

async fn accept_all(mut stream: TcpStream, arrivals: Arc<watch::Sender<Arrivals>>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut bytes = Vec::new();
    while stream.read_buf(&mut bytes).await? > 0 {
        while let Some(end) = whole_request(&bytes) {
            bytes.drain(..end);
            count(&arrivals);
            stream.write_all(ACCEPTED).await?;
        }
    }
    Ok(())
}

async fn accept_one(mut stream: TcpStream, arrivals: &watch::Sender<Arrivals>) -> io::Result<()> {
    let mut bytes = Vec::new();
    while whole_request(&bytes).is_none() {
        if stream.read_buf(&mut bytes).await? == 0 {
            return Ok(());
        }
    }
    count(arrivals);
    stream.write_all(ACCEPTED_AND_CLOSED).await?;
    stream.shutdown().await
}

/// A webhook has arrived.
fn count(arrivals: &watch::Sender<Arrivals>) {
    let now = Instant::now();
    arrivals.send_modify(|arrivals| {
        let first = if arrivals.count == 0 { now } else { arrivals.first };
        *arrivals = Arrivals { count: arrivals.count + 1, first, last: now };
    });
}

/// Where the first request ends, once it is complete.
fn whole_request(bytes: &[u8]) -> Option<usize> {
    let body = crate::load::whole(bytes)?;
    Some(body.end)
}
