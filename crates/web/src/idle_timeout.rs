//! Closes connections that send no request in time: a head that has begun must be complete soon, while a connection that
//! has served a request may stay idle for longer, since proxies keep theirs and use them again. A connection that is closed
//! while its client still sends a body stays half open for a moment, so that the client gets to read its answer.
//!
//! The HTTP library has one time limit for both, and sets a timer for every request, so this stream has the limits instead.

use std::{
    io,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Instant, Sleep, sleep_until},
};

/// How long, and for how many bytes, a connection is read after its last answer where the client may still be sending. Closed
/// with unread bytes, it would be reset, and the client's system may then drop the answer before the client has read it.
const LINGER: Duration = Duration::from_secs(2);
const LINGER_BYTES_MOST: usize = 4 * 1024 * 1024;
const LINGER_BYTES_AT_ONCE: usize = 8 * 1024;

/// The time limits while no request is being handled.
#[derive(Clone, Copy)]
pub(crate) struct IdleTimeouts {
    /// From the first byte of a head, or for the first one from the start of the connection, to its last byte.
    pub(crate) head: Duration,
    /// From the end of an answer to the first byte of the next head.
    pub(crate) idle: Duration,
}

/// What a connection is doing. The stream and the request handler share it.
#[derive(Clone)]
pub(crate) struct Phase(Arc<Mutex<Doing>>);

#[derive(Clone, Copy)]
enum Doing {
    /// Waits for the first byte of the next request.
    Idle { until: Instant },
    /// Reads the head of a request.
    ReadingHead { until: Instant },
    /// Handles a request. That has time limits of its own.
    Handling,
    /// Has sent its last answer. What the client still sends is dropped.
    Lingering { until: Instant },
}

/// A request that is being handled. Dropped with the answer's body, it makes the connection idle, or lets it linger.
pub(crate) struct Handling {
    phase: Phase,
    idle: Duration,
    is_last: bool,
}

/// A stream whose reads fail when the other side takes too long.
pub(crate) struct IdleTimeoutStream<Stream> {
    stream: Stream,
    phase: Phase,
    head: Duration,
    timer: Pin<Box<Sleep>>,
    /// The bytes that were dropped while it lingered.
    dropped_bytes: usize,
}

impl Phase {
    fn doing(&self) -> MutexGuard<'_, Doing> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that the head of a request is complete.
    pub(crate) fn handle(&self, timeouts: IdleTimeouts) -> Handling {
        *self.doing() = Doing::Handling;
        Handling { phase: self.clone(), idle: timeouts.idle, is_last: false }
    }
}

impl Handling {
    /// Says that the connection is closed after this answer, though its client may still be sending.
    pub(crate) fn linger(&mut self) {
        self.is_last = true;
    }
}

impl Drop for Handling {
    fn drop(&mut self) {
        let now = Instant::now();
        *self.phase.doing() = if self.is_last {
            Doing::Lingering { until: now + LINGER }
        } else {
            Doing::Idle { until: now + self.idle }
        };
    }
}

impl<Stream> IdleTimeoutStream<Stream> {
    /// The stream of a new connection, whose first head must come within the time limit of heads.
    pub(crate) fn new(stream: Stream, timeouts: IdleTimeouts) -> (IdleTimeoutStream<Stream>, Phase) {
        let until = Instant::now() + timeouts.head;
        let phase = Phase(Arc::new(Mutex::new(Doing::ReadingHead { until })));
        let timer = Box::pin(sleep_until(until));
        (IdleTimeoutStream { stream, phase: phase.clone(), head: timeouts.head, timer, dropped_bytes: 0 }, phase)
    }

    /// Ready with an error once `until` has passed. The timer is set again only where it would ring too late, or has rung too
    /// early: setting it for every request takes longer than the request's other work here.
    fn poll_late(&mut self, context: &mut Context<'_>, until: Instant) -> Poll<io::Error> {
        if self.timer.deadline() > until {
            self.timer.as_mut().reset(until);
        }
        ready!(self.timer.as_mut().poll(context));
        if self.timer.deadline() < until {
            self.timer.as_mut().reset(until);
            ready!(self.timer.as_mut().poll(context));
        }
        Poll::Ready(io::ErrorKind::TimedOut.into())
    }
}

impl<Stream: AsyncRead + Unpin> IdleTimeoutStream<Stream> {
    /// Ready when the client has closed its side too, or has had long enough.
    fn poll_linger(&mut self, context: &mut Context<'_>, until: Instant) -> Poll<()> {
        let mut bytes = [0; LINGER_BYTES_AT_ONCE];
        while self.dropped_bytes < LINGER_BYTES_MOST && self.poll_late(context, until).is_pending() {
            let mut buffer = ReadBuf::new(&mut bytes);
            let read = ready!(Pin::new(&mut self.stream).poll_read(context, &mut buffer));
            if read.is_err() || buffer.filled().is_empty() {
                break;
            }
            self.dropped_bytes += buffer.filled().len();
        }
        Poll::Ready(())
    }
}

impl<Stream: AsyncRead + Unpin> AsyncRead for IdleTimeoutStream<Stream> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let doing = *self.phase.doing();
        if let Doing::Idle { until } | Doing::ReadingHead { until } = doing
            && let Poll::Ready(late) = self.poll_late(context, until)
        {
            return Poll::Ready(Err(late));
        }
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if read.is_ready() && matches!(doing, Doing::Idle { .. }) {
            *self.phase.doing() = Doing::ReadingHead { until: Instant::now() + self.head };
        }
        read
    }
}

impl<Stream: AsyncRead + AsyncWrite + Unpin> AsyncWrite for IdleTimeoutStream<Stream> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_shutdown(context))?;
        let doing = *self.phase.doing();
        match doing {
            Doing::Lingering { until } => self.poll_linger(context, until).map(Ok),
            _ => Poll::Ready(Ok(())),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
