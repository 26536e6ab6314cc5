//! The answer to an HTTP request, and what tests check about it.

use reqwest::{StatusCode, header::HeaderMap};
use serde_json::Value;

/// A complete answer.
#[derive(Debug)]
pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// `Null` when the body is not JSON.
    pub json: Value,
    pub text: String,
}

impl Reply {
    /// The body, after checking the status.
    #[track_caller]
    pub fn expect(self, status: u16) -> Value {
        assert_eq!(self.status.as_u16(), status, "{}", self.text);
        self.json
    }

    /// Checks status and error code, and that the body is the envelope and nothing else.
    #[track_caller]
    pub fn refused(self, status: u16, code: &str) -> String {
        assert_eq!((self.status.as_u16(), self.json["error"]["code"].as_str()), (status, Some(code)), "{}", self.text);
        let message = self.json["error"]["message"].as_str().unwrap_or_default().to_owned();
        let envelope = serde_json::json!({ "error": { "code": code, "message": message } });
        assert_eq!(self.json, envelope, "an error has the envelope and nothing else");
        assert!(!message.is_empty(), "an error has a message");
        assert!(self.headers.contains_key("x-request-id"));
        message
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}
