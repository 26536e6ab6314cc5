//! Raw connections, for requests and answers that an HTTP client would not send or would hide.

use std::{net::SocketAddr, time::Duration};

use reqwest::{
    StatusCode,
    header::{HeaderMap, HeaderName, HeaderValue},
};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::Reply;

/// Longer than any answer takes, so that a server that hangs fails its test instead of hanging it.
const PATIENCE: Duration = Duration::from_secs(30);

/// Sends bytes as they are and reads until the server closes: for requests that no HTTP client would send.
pub async fn exchange(address: SocketAddr, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // The server may close before it has read everything; what it answered is still there to read.
    let _ = stream.write_all(bytes).await;
    let mut answer = Vec::new();
    let _ = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut answer)).await.expect("the server never closes");
    String::from_utf8_lossy(&answer).into_owned()
}

/// The bytes of a request, with the length of its body.
pub fn request_bytes(method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("{method} {path} HTTP/1.1\r\nHost: lunas.test\r\n").into_bytes();
    for (name, value) in headers {
        bytes.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
    }
    if !body.is_empty() {
        bytes.extend_from_slice(format!("Content-Length: {}\r\n", body.len()).as_bytes());
    }
    bytes.extend_from_slice(b"\r\n");
    bytes.extend_from_slice(body);
    bytes
}

/// One connection, for tests of what a client library would hide.
pub struct Socket {
    stream: TcpStream,
    unread: Vec<u8>,
}

impl Socket {
    pub async fn connect(address: SocketAddr) -> Socket {
        Socket { stream: TcpStream::connect(address).await.unwrap(), unread: Vec::new() }
    }

    /// Sends bytes; returns whether the connection took them.
    pub async fn send(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).await.is_ok()
    }

    /// The next answer, also an interim one, or `None` when the server closes without another.
    pub async fn answer(&mut self) -> Option<Reply> {
        let head_bytes = loop {
            if let Some(end) = self.unread.windows(4).position(|window| window == b"\r\n\r\n") {
                break end + 4;
            }
            if !self.read_more().await {
                assert!(self.unread.is_empty(), "the server closed inside a head");
                return None;
            }
        };
        let head: Vec<u8> = self.unread.drain(..head_bytes).collect();
        let (status, headers) = parse_head(std::str::from_utf8(&head).unwrap());
        let length = headers.get("content-length").map_or(0, |value| value.to_str().unwrap().parse().unwrap());
        while self.unread.len() < length {
            assert!(self.read_more().await, "the server closed inside a body");
        }
        let body: Vec<u8> = self.unread.drain(..length).collect();
        let text = String::from_utf8(body).unwrap();
        Some(Reply { status, headers, json: serde_json::from_str(&text).unwrap_or(Value::Null), text })
    }

    /// Whether the server sends something, or closes, before `patience` is over.
    pub async fn hears_within(&self, patience: Duration) -> bool {
        tokio::time::timeout(patience, self.stream.peek(&mut [0])).await.is_ok()
    }

    /// Waits until the server closes, and checks that it sends nothing more before that.
    pub async fn closed(&mut self) {
        while self.read_more().await {}
        assert_eq!(String::from_utf8_lossy(&self.unread), "", "something came before the connection closed");
    }

    /// Reads more bytes; false at the end. A reset is an end too.
    async fn read_more(&mut self) -> bool {
        let read = tokio::time::timeout(PATIENCE, self.stream.read_buf(&mut self.unread)).await;
        read.expect("the server neither answers nor closes").is_ok_and(|bytes| bytes > 0)
    }
}

fn parse_head(head: &str) -> (StatusCode, HeaderMap) {
    let mut lines = head.trim_end().split("\r\n");
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let mut headers = HeaderMap::new();
    for line in lines {
        let (name, value) = line.split_once(": ").unwrap();
        headers.append(HeaderName::try_from(name).unwrap(), HeaderValue::from_str(value).unwrap());
    }
    (status, headers)
}
