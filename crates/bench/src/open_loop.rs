//! Requests that are due at fixed times, whether earlier ones are answered or not: what customers do, who do not wait for
//! each other. The loop of `load` sends less when the server is slow, and so leaves out the requests that would have waited.
//!
//! A latency counts from when its request was due, not from when it was sent. The runtime's timers have a resolution of a
//! millisecond, in which several requests are due, so a thread of its own sleeps until the next one is due.

use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use tokio::{net::TcpStream, sync::Semaphore, task::JoinSet};

use crate::load::{self, Requests};

/// So many that one is free when a request is due, even if others are answered slowly.
const CONNECTIONS: u64 = 256;
/// From when everything is connected until the first request is due.
const HEAD_START: Duration = Duration::from_millis(20);

/// When requests are due.
#[derive(Clone, Copy)]
struct Schedule {
    began: Instant,
    per_second: u64,
    count: u64,
}

/// In microseconds and ascending order.
pub(crate) struct Latencies {
    /// From when a request was due until its answer was there.
    answered: Vec<u64>,
    /// From when a request was due until it was sent: what the load itself adds.
    sent: Vec<u64>,
}

impl Latencies {
    pub(crate) fn latency_at(&self, thousandths: usize) -> u64 {
        percentile(&self.answered, thousandths)
    }

    pub(crate) fn sent(&self, thousandths: usize) -> u64 {
        percentile(&self.sent, thousandths)
    }
}

/// Sends `per_second` requests for about `duration`, and waits for all answers.
pub(crate) async fn run(
    address: SocketAddr,
    per_second: u64,
    duration: Duration,
    requests: &Requests,
) -> io::Result<Latencies> {
    let mut streams = Vec::new();
    for _ in 0..CONNECTIONS {
        streams.push(load::connect(address).await?);
    }
    let (per_second, millis) = (per_second.max(1), u64::try_from(duration.as_millis()).unwrap_or(u64::MAX));
    let count = (per_second * millis / 1_000).max(1);
    let schedule = Schedule { began: Instant::now() + HEAD_START, per_second, count };
    let (due, next) = (Arc::new(Semaphore::new(0)), Arc::new(AtomicU64::new(0)));
    let mut tasks = JoinSet::new();
    for stream in streams {
        let (due, next, requests) = (Arc::clone(&due), Arc::clone(&next), Arc::clone(requests));
        tasks.spawn(async move { connection(stream, schedule, &due, &next, &requests).await });
    }
    let pacer = thread::spawn(move || schedule.pace(&due));
    let (mut answered, mut sent) = (Vec::new(), Vec::new());
    while let Some(done) = tasks.join_next().await {
        for (one, other) in done.map_err(io::Error::other)?? {
            answered.push(one);
            sent.push(other);
        }
    }
    pacer.join().map_err(|_| io::Error::other("the thread that paces requests panicked"))?;
    answered.sort_unstable();
    sent.sort_unstable();
    Ok(Latencies { answered, sent })
}

impl Schedule {
    fn due_at(&self, index: u64) -> Instant {
        self.began + Duration::from_nanos(index * 1_000_000_000 / self.per_second)
    }

    /// Lets a connection have each request when it is due; at the end, lets every connection see that there are no more.
    fn pace(&self, due: &Semaphore) {
        for index in 0..self.count {
            let left = self.due_at(index).saturating_duration_since(Instant::now());
            if !left.is_zero() {
                thread::sleep(left);
            }
            due.add_permits(1);
        }
        due.close();
    }
}

/// Takes the next request whenever this connection is free and one is due. The latencies of each: answered, sent.
async fn connection(
    mut stream: TcpStream,
    schedule: Schedule,
    due: &Semaphore,
    next: &AtomicU64,
    requests: &Requests,
) -> io::Result<Vec<(u64, u64)>> {
    let (mut out, mut answer, mut latencies) = (Vec::new(), Vec::new(), Vec::new());
    loop {
        // Requests that are left when the semaphore is closed are due all the same.
        if let Ok(permit) = due.acquire().await {
            permit.forget();
        }
        let index = next.fetch_add(1, Ordering::Relaxed);
        if index >= schedule.count {
            return Ok(latencies);
        }
        out.clear();
        requests(index, &mut out);
        let due_at = schedule.due_at(index);
        let sent = micros_since(due_at);
        load::exchange(&mut stream, &out, &mut answer).await?;
        latencies.push((micros_since(due_at), sent));
    }
}

fn micros_since(moment: Instant) -> u64 {
    u64::try_from(moment.elapsed().as_micros()).unwrap_or(u64::MAX)
}

fn percentile(sorted: &[u64], thousandths: usize) -> u64 {
    let at = (sorted.len() * thousandths / 1_000).min(sorted.len().saturating_sub(1));
    sorted.get(at).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpListener,
        sync::watch,
    };

    use super::*;

    /// A server that answers nothing until that many requests have arrived.
    async fn answers_after(count: u64) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let arrived = Arc::new(watch::Sender::new(0));
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let arrived = Arc::clone(&arrived);
                tokio::spawn(async move {
                    let mut bytes = [0; 64];
                    while stream.read(&mut bytes).await.is_ok_and(|read| read > 0) {
                        arrived.send_modify(|arrived| *arrived += 1);
                        let _ = arrived.subscribe().wait_for(|arrived| *arrived >= count).await;
                        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
                    }
                });
            }
        });
        address
    }

    /// A closed loop would send nothing while the server is slow, and so would see few slow answers.
    #[tokio::test]
    async fn requests_go_on_while_others_wait_and_count_from_when_they_were_due() {
        let requests: Requests = Arc::new(|_, out| out.extend_from_slice(b"GET / HTTP/1.1\r\n\r\n"));
        let address = answers_after(50).await;
        let latencies = run(address, 1_000, Duration::from_millis(100), &requests).await.unwrap();
        assert_eq!(latencies.answered.len(), 100);
        // The fiftieth is due 49 ms after the first, and none before it is answered earlier.
        let slow = latencies.answered.iter().filter(|micros| **micros >= 20_000).count();
        assert!(slow >= 30, "{slow} waited for 20 ms or longer");
    }
}
