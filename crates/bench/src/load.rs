//! The load: connections that each send a request, wait for its answer and send the next, until the time is over.
//!
//! The same loop drives the product and the ceiling, so both share the cores with it in the same way.

use std::{
    io,
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinSet,
};

/// Concurrent connections of most groups.
pub(crate) const CONNECTIONS: u64 = 64;
const ANSWER_BYTES_MOST: usize = 1024 * 1024;

/// Writes the n-th request of a run into a buffer.
pub(crate) type Requests = Arc<dyn Fn(u64, &mut Vec<u8>) + Send + Sync>;

/// The result of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rate {
    pub(crate) per_second: u64,
}

impl Rate {
    pub(crate) fn of(answered: u64, elapsed: Duration) -> Rate {
        let micros = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX).max(1);
        Rate { per_second: answered * 1_000_000 / micros }
    }
}

/// Sends `requests` over `connections` for about `duration`, and counts the answers.
pub(crate) async fn run(
    address: SocketAddr,
    connections: u64,
    duration: Duration,
    requests: &Requests,
) -> io::Result<Rate> {
    run_on(&[address], connections, duration, requests).await
}

/// The same with the connections distributed over several servers.
pub(crate) async fn run_on(
    addresses: &[SocketAddr],
    connections: u64,
    duration: Duration,
    requests: &Requests,
) -> io::Result<Rate> {
    let began = Instant::now();
    let mut tasks = JoinSet::new();
    for (number, address) in (0..connections).zip(addresses.iter().copied().cycle()) {
        let requests = Arc::clone(requests);
        tasks.spawn(async move { connection(address, number, connections, began + duration, &requests).await });
    }
    let mut answered = 0;
    while let Some(done) = tasks.join_next().await {
        answered += done.map_err(io::Error::other)??;
    }
    Ok(Rate::of(answered, began.elapsed()))
}

/// Sends exactly the requests `0..count` once each, and counts.
pub(crate) async fn count(address: SocketAddr, connections: u64, count: u64, requests: &Requests) -> io::Result<Rate> {
    let began = Instant::now();
    let answers = collect(address, connections, count, requests).await?;
    Ok(Rate::of(answers.len() as u64, began.elapsed()))
}

/// Sends exactly the requests `0..count` once each, and returns the bodies of the answers in that order.
pub(crate) async fn collect(
    address: SocketAddr,
    connections: u64,
    count: u64,
    requests: &Requests,
) -> io::Result<Vec<Vec<u8>>> {
    let mut tasks = JoinSet::new();
    for number in 0..connections {
        let requests = Arc::clone(requests);
        tasks.spawn(async move {
            let mut stream = connect(address).await?;
            let (mut out, mut answer, mut bodies) = (Vec::new(), Vec::new(), Vec::new());
            for index in (number..count).step_by(usize::try_from(connections).unwrap_or(1)) {
                out.clear();
                requests(index, &mut out);
                let body = exchange(&mut stream, &out, &mut answer).await?;
                bodies.push((index, answer[body].to_vec()));
            }
            io::Result::Ok(bodies)
        });
    }
    let mut all = Vec::new();
    while let Some(done) = tasks.join_next().await {
        all.extend(done.map_err(io::Error::other)??);
    }
    all.sort_by_key(|(index, _)| *index);
    Ok(all.into_iter().map(|(_, body)| body).collect())
}

async fn connection(
    address: SocketAddr,
    number: u64,
    step: u64,
    until: Instant,
    requests: &Requests,
) -> io::Result<u64> {
    let mut stream = connect(address).await?;
    let (mut out, mut answer) = (Vec::new(), Vec::new());
    let (mut answered, mut index) = (0, number);
    while Instant::now() < until {
        out.clear();
        requests(index, &mut out);
        exchange(&mut stream, &out, &mut answer).await?;
        answered += 1;
        index += step;
    }
    Ok(answered)
}

pub(crate) async fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// One request and its answer; the range of the body within `answer`. An answer that is neither 2xx nor 3xx ends the run.
pub(crate) async fn exchange(
    stream: &mut TcpStream,
    request: &[u8],
    answer: &mut Vec<u8>,
) -> io::Result<std::ops::Range<usize>> {
    let body = exchange_any(stream, request, answer).await?;
    if !matches!(answer.get(9), Some(b'2' | b'3')) {
        return Err(io::Error::other(String::from_utf8_lossy(answer).into_owned()));
    }
    Ok(body)
}

/// The same with any status.
pub(crate) async fn exchange_any(
    stream: &mut TcpStream,
    request: &[u8],
    answer: &mut Vec<u8>,
) -> io::Result<std::ops::Range<usize>> {
    stream.write_all(request).await?;
    answer.clear();
    loop {
        if let Some(body) = whole(answer) {
            return Ok(body);
        }
        if answer.len() > ANSWER_BYTES_MOST || stream.read_buf(answer).await? == 0 {
            return Err(io::Error::other("the answer ended early or never"));
        }
    }
}

/// The range of the body of an HTTP message, once head and body are complete. The head is parsed in one pass: the load
/// shares the cores, and the side whose answers have more headers must not be slowed down by a slow parser.
pub(crate) fn whole(answer: &[u8]) -> Option<std::ops::Range<usize>> {
    const NAME: &[u8] = b"content-length: ";
    let (mut length, mut at) = (None, 0);
    loop {
        let line = answer[at..].split(|byte| *byte == b'\n').next()?;
        at += line.len() + 1;
        if at > answer.len() {
            return None;
        }
        if line == b"\r" {
            let end = at + length?;
            return (answer.len() >= end).then_some(at..end);
        }
        if line.get(..NAME.len()).is_some_and(|name| name.eq_ignore_ascii_case(NAME)) {
            let digits = line[NAME.len()..].iter().take_while(|byte| byte.is_ascii_digit());
            length = Some(digits.fold(0, |length, digit| length * 10 + usize::from(digit - b'0')));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_whole_once_all_of_its_body_is_there() {
        let message = b"HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: 12\r\nDate: y\r\n\r\nhello\n world";
        let body = whole(message).unwrap();
        assert_eq!(&message[body], b"hello\n world");
        assert!((0..message.len()).all(|end| whole(&message[..end]).is_none()));
        assert_eq!(whole(b"HTTP/1.1 204 No Content\r\n\r\n"), None);
    }
}
