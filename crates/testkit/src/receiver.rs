//! A merchant's server: takes webhooks on a free port, remembers all of them, and answers as a test tells it to.

use std::{
    collections::VecDeque,
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use domain::time::Timestamp;
use engine::{Clock, SystemClock};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::watch,
    task::{JoinHandle, JoinSet},
};

/// Longer than any webhook takes, including the longest pause of `lunas listen` on a busy machine, so that a webhook
/// that never comes fails its test instead of hanging it.
const PATIENCE: Duration = Duration::from_secs(120);
/// Between two bytes of a slow answer.
const DRIP_EVERY: Duration = Duration::from_millis(10);
const READ_BYTES: usize = 16 * 1_024;

/// What a receiver does with a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Status(u16),
    /// A complete answer with that body.
    Body(u16, Vec<u8>),
    /// A status and one header.
    Header(u16, &'static str, String),
    /// These bytes and nothing else; then the connection is closed.
    Raw(Vec<u8>),
    /// That status, sent before anything of the request is read.
    BeforeReading(u16),
    /// No answer, until the sender gives up or [`Receiver::release`] makes it a 200.
    Hang,
    /// No answer; the connection is closed.
    Close,
    /// A 200 whose body arrives byte by byte and never ends.
    Drip,
    /// A 200 whose body arrives as fast as it is read and never ends.
    Endless,
}

/// A complete request.
#[derive(Clone, Debug)]
pub struct Received {
    pub method: String,
    pub path: String,
    /// Names are in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// When it had come, by the clock of the machine.
    pub at: Timestamp,
}

impl Received {
    /// The value of a header that must be there once.
    #[track_caller]
    pub fn header(&self, name: &str) -> &str {
        let mut found = self.headers.iter().filter(|(known, _)| *known == name.to_ascii_lowercase());
        match (found.next(), found.next()) {
            (Some((_, value)), None) => value,
            other => panic!("one header `{name}` is wanted, not {other:?}"),
        }
    }

    pub fn has_header(&self, name: &str) -> bool {
        self.headers.iter().any(|(known, _)| *known == name.to_ascii_lowercase())
    }

    pub fn text(&self) -> &str {
        str::from_utf8(&self.body).unwrap()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// The id of its event.
    pub fn event_id(&self) -> String {
        self.json()["id"].as_str().unwrap().to_owned()
    }
}

#[derive(Default)]
struct Inside {
    received: Vec<Received>,
    /// The answers to the next requests, one each.
    next: VecDeque<Answer>,
    /// The answer to all other requests.
    usual: Option<Answer>,
    waiting: usize,
    waiting_most: usize,
}

struct Shared {
    inside: Mutex<Inside>,
    arrived: watch::Sender<usize>,
    released: watch::Sender<()>,
}

impl Shared {
    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap()
    }

    /// The answer to the next request, if it is to be sent before the request is read.
    fn early_answer(&self) -> Option<u16> {
        let mut inside = self.inside();
        let early = |answer: Option<&Answer>| match answer {
            Some(Answer::BeforeReading(status)) => Some(*status),
            _ => None,
        };
        match inside.next.front() {
            None => early(inside.usual.as_ref()),
            front => {
                let status = early(front);
                if status.is_some() {
                    inside.next.pop_front();
                }
                status
            }
        }
    }

    /// Records a request and returns how to answer it, unless it is answered already.
    fn take(&self, request: Received, early: Option<u16>) -> Option<Answer> {
        let (count, answer) = {
            let mut inside = self.inside();
            inside.received.push(request);
            inside.waiting += 1;
            inside.waiting_most = inside.waiting_most.max(inside.waiting);
            let answer = early.is_none().then(|| inside.next.pop_front().or_else(|| inside.usual.clone()));
            (inside.received.len(), answer.map(|answer| answer.unwrap_or(Answer::Status(200))))
        };
        self.arrived.send_replace(count);
        answer
    }
}

/// A server for webhooks, which listens until it is dropped.
pub struct Receiver {
    pub address: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

impl Receiver {
    /// Starts a receiver that answers 200 until a test sets another answer.
    pub async fn start() -> Receiver {
        Receiver::start_at(([127, 0, 0, 1], 0).into()).await
    }

    /// Starts one at the address of an earlier one.
    pub async fn start_at(address: SocketAddr) -> Receiver {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (arrived, released) = (watch::Sender::new(0), watch::Sender::new(()));
        let shared = Arc::new(Shared { inside: Mutex::default(), arrived, released });
        let task = tokio::spawn(listen(listener, Arc::clone(&shared)));
        Receiver { address, shared, task }
    }

    /// Starts a receiver that gives every request `answer`.
    pub async fn answering(answer: Answer) -> Receiver {
        let receiver = Receiver::start().await;
        receiver.answer(answer);
        receiver
    }

    pub fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    /// Sets the answer from now on.
    pub fn answer(&self, answer: Answer) {
        self.shared.inside().usual = Some(answer);
    }

    /// Sets the answers to the next requests; later ones get the usual answer.
    pub fn answer_next(&self, answers: impl IntoIterator<Item = Answer>) {
        self.shared.inside().next.extend(answers);
    }

    /// Answers 200 to every request that hangs at the moment.
    pub fn release(&self) {
        self.shared.released.send_replace(());
    }

    /// All requests so far, in the order of arrival.
    pub fn received(&self) -> Vec<Received> {
        self.shared.inside().received.clone()
    }

    pub fn count(&self) -> usize {
        self.shared.inside().received.len()
    }

    /// The most requests that ever waited for an answer at the same time.
    pub fn waiting_most(&self) -> usize {
        self.shared.inside().waiting_most
    }

    /// Waits until at least `count` requests have arrived; returns all of them.
    pub async fn arrived(&self, count: usize) -> Vec<Received> {
        self.until(|received| received.len() >= count).await
    }

    /// Waits until the requests so far are as `wanted`; returns them.
    pub async fn until(&self, wanted: impl Fn(&[Received]) -> bool) -> Vec<Received> {
        let mut arrivals = self.shared.arrived.subscribe();
        let waited = tokio::time::timeout(PATIENCE, arrivals.wait_for(|_| wanted(&self.shared.inside().received)));
        let in_time = waited.await.map(|arrivals| arrivals.is_ok());
        assert!(in_time == Ok(true), "{} webhooks have come, and they are not the wanted ones", self.count());
        self.received()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn listen(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let shared = Arc::clone(&shared);
        connections.spawn(async move {
            // A sender that gives up is no error of the receiver.
            let _ = serve(stream, &shared).await;
        });
        while connections.try_join_next().is_some() {}
    }
}

async fn serve(mut stream: TcpStream, shared: &Shared) -> io::Result<()> {
    let mut unread = Vec::new();
    loop {
        if unread.is_empty() {
            // Waits for the first byte and leaves it unread. A stream may call itself readable before.
            stream.peek(&mut [0]).await?;
        }
        let early = shared.early_answer();
        if let Some(status) = early {
            stream.write_all(&whole(status, None, b"")).await?;
        }
        let Some(request) = read_request(&mut stream, &mut unread).await? else { return Ok(()) };
        // Subscribes before a test can see the request, so that no release is missed.
        let released = shared.released.subscribe();
        let answered = match shared.take(request, early) {
            Some(answer) => respond(&mut stream, answer, released).await,
            None => Ok(true),
        };
        shared.inside().waiting -= 1;
        if !answered? {
            return Ok(());
        }
    }
}

/// Answers; returns whether the connection stays open.
async fn respond(stream: &mut TcpStream, answer: Answer, mut released: watch::Receiver<()>) -> io::Result<bool> {
    match answer {
        Answer::Status(status) | Answer::BeforeReading(status) => stream.write_all(&whole(status, None, b"")).await?,
        Answer::Body(status, body) => stream.write_all(&whole(status, None, &body)).await?,
        Answer::Header(status, name, value) => stream.write_all(&whole(status, Some((name, &value)), b"")).await?,
        Answer::Raw(bytes) => {
            stream.write_all(&bytes).await?;
            return Ok(false);
        }
        Answer::Close => return Ok(false),
        Answer::Hang => {
            tokio::select! {
                // The sender has closed the connection, or sends more too early.
                _ = stream.read_u8() => return Ok(false),
                _ = released.changed() => stream.write_all(&whole(200, None, b"")).await?,
            }
        }
        Answer::Drip => unending(stream, b".", DRIP_EVERY).await?,
        Answer::Endless => unending(stream, &[b'.'; READ_BYTES], Duration::ZERO).await?,
    }
    Ok(true)
}

/// Sends a body until the sender of the request closes the connection.
async fn unending(stream: &mut TcpStream, piece: &[u8], every: Duration) -> io::Result<()> {
    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n").await?;
    loop {
        stream.write_all(piece).await?;
        tokio::time::sleep(every).await;
    }
}

fn whole(status: u16, header: Option<(&str, &str)>, body: &[u8]) -> Vec<u8> {
    let header = header.map(|(name, value)| format!("{name}: {value}\r\n")).unwrap_or_default();
    let head = format!("HTTP/1.1 {status} Said\r\n{header}Content-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

/// The next request; `None` when the sender closes instead.
async fn read_request(stream: &mut TcpStream, unread: &mut Vec<u8>) -> io::Result<Option<Received>> {
    let head_bytes = loop {
        if let Some(end) = unread.windows(4).position(|window| window == b"\r\n\r\n") {
            break end + 4;
        }
        if stream.read_buf(unread).await? == 0 {
            return Ok(None);
        }
    };
    let head: Vec<u8> = unread.drain(..head_bytes).collect();
    let head = String::from_utf8(head).map_err(io::Error::other)?;
    let mut lines = head.lines();
    let mut first = lines.next().unwrap_or_default().split(' ').map(str::to_owned);
    let (method, path) = (first.next().unwrap_or_default(), first.next().unwrap_or_default());
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length").map(|(_, value)| value.parse());
    let length: usize = length.transpose().map_err(io::Error::other)?.unwrap_or(0);
    while unread.len() < length {
        if stream.read_buf(unread).await? == 0 {
            return Ok(None);
        }
    }
    let body = unread.drain(..length).collect();
    Ok(Some(Received { method, path, headers, body, at: SystemClock.now() }))
}
