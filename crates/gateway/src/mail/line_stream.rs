//! A connection of which one line at most is read at once. After STARTTLS, the SMTP client goes on with what it has read beyond the
//! relay's answer as if it came encrypted, although anybody on the way may have sent it. By lines it has read nothing
//! beyond: such bytes are left to the handshake, which fails by them.

use std::{
    io,
    net::SocketAddr,
    pin::Pin,
    task::{Context, Poll, ready},
};

use lettre::transport::smtp::client::AsyncTokioStream;
use tokio::{
    io::{AsyncBufRead, AsyncRead, AsyncWrite, BufReader, ReadBuf},
    net::TcpStream,
};

#[derive(Debug)]
pub(super) struct LineStream(BufReader<TcpStream>);

impl LineStream {
    pub(super) async fn connect(address: (&str, u16)) -> io::Result<LineStream> {
        Ok(LineStream(BufReader::new(TcpStream::connect(address).await?)))
    }

    fn inner(self: Pin<&mut Self>) -> Pin<&mut BufReader<TcpStream>> {
        Pin::new(&mut self.get_mut().0)
    }
}

impl AsyncTokioStream for LineStream {
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.0.get_ref().peer_addr()
    }
}

impl AsyncRead for LineStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let here = ready!(self.as_mut().inner().poll_fill_buf(context))?;
        let line = here.split_inclusive(|byte| *byte == b'\n').next().unwrap_or_default();
        let taken = line.len().min(buffer.remaining());
        buffer.put_slice(&line[..taken]);
        self.inner().consume(taken);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for LineStream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.inner().poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner().poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner().poll_shutdown(context)
    }
}
