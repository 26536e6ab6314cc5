//! Closes connections that send no request in time: a head that has begun must be complete soon, while a connection that
//! has served a request may stay idle for longer, since proxies keep theirs and use them again.
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
}

/// A request that is being handled. Dropped with the answer's body, it makes the connection idle.
pub(crate) struct Handling {
    phase: Phase,
    idle: Duration,
}

/// A stream whose reads fail when the other side takes too long.
pub(crate) struct IdleTimeoutStream<Stream> {
    stream: Stream,
    phase: Phase,
    head: Duration,
    timer: Pin<Box<Sleep>>,
}

impl Phase {
    fn doing(&self) -> MutexGuard<'_, Doing> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that the head of a request is complete.
    pub(crate) fn handle(&self, timeouts: IdleTimeouts) -> Handling {
        *self.doing() = Doing::Handling;
        Handling { phase: self.clone(), idle: timeouts.idle }
    }
}

impl Drop for Handling {
    fn drop(&mut self) {
        *self.phase.doing() = Doing::Idle { until: Instant::now() + self.idle };
    }
}

impl<Stream> IdleTimeoutStream<Stream> {
    /// The stream of a new connection, whose first head must come within the time limit of heads.
    pub(crate) fn new(stream: Stream, timeouts: IdleTimeouts) -> (IdleTimeoutStream<Stream>, Phase) {
        let until = Instant::now() + timeouts.head;
        let phase = Phase(Arc::new(Mutex::new(Doing::ReadingHead { until })));
        let timer = Box::pin(sleep_until(until));
        (IdleTimeoutStream { stream, phase: phase.clone(), head: timeouts.head, timer }, phase)
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

impl<Stream: AsyncWrite + Unpin> AsyncWrite for IdleTimeoutStream<Stream> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
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
