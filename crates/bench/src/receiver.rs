//! A webhook receiver that accepts everything at once and records when it arrived.

use std::{
    io,
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::watch,
};

/// How long to wait for webhooks; they arrive long before that.
const PATIENCE: Duration = Duration::from_secs(60);
const ACCEPTED: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

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
        let address = listener.local_addr()?;
        let now = Instant::now();
        let arrivals = Arc::new(watch::Sender::new(Arrivals { count: 0, first: now, last: now }));
        let counted = Arc::clone(&arrivals);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(accept_all(stream, Arc::clone(&counted)));
            }
        });
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
            let now = Instant::now();
            bytes.drain(..end);
            arrivals.send_modify(|arrivals| {
                let first = if arrivals.count == 0 { now } else { arrivals.first };
                *arrivals = Arrivals { count: arrivals.count + 1, first, last: now };
            });
            stream.write_all(ACCEPTED).await?;
        }
    }
    Ok(())
}

/// Where the first request ends, once it is complete.
fn whole_request(bytes: &[u8]) -> Option<usize> {
    let body = crate::load::whole(bytes)?;
    Some(body.end)
}
