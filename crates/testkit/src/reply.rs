use std::net::SocketAddr;

use reqwest::{Client, Method, RequestBuilder, StatusCode, header::HeaderMap};
use serde_json::Value;

use crate::contract;

/// Calls the API, with a key or without.
#[derive(Clone)]
pub struct Api {
    client: Client,
    base_url: String,
    key: Option<String>,
}

/// An answer, read whole.
#[derive(Debug)]
pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// `Null` when the body is not JSON.
    pub json: Value,
    pub text: String,
}

impl Api {
    pub fn new(address: SocketAddr, key: Option<&str>) -> Api {
        let client = Client::builder().no_proxy().build().unwrap();
        Api { client, base_url: format!("http://{address}"), key: key.map(str::to_owned) }
    }

    pub fn with_key(&self, key: &str) -> Api {
        Api { key: Some(key.to_owned()), ..self.clone() }
    }

    /// A request to be made by hand; send it with [`Api::send`].
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, format!("{}{path}", self.base_url));
        match &self.key {
            Some(key) => request.bearer_auth(key),
            None => request,
        }
    }

    /// Sends a request, and checks that the answer is one that the OpenAPI document describes.
    pub async fn send(&self, request: RequestBuilder) -> Reply {
        let (client, request) = request.build_split();
        let request = request.unwrap();
        let (method, path) = (request.method().clone(), request.url().path().to_owned());
        let sent = request.body().and_then(|body| serde_json::from_slice(body.as_bytes()?).ok());
        let response = client.execute(request).await.unwrap();
        let (status, headers) = (response.status(), response.headers().clone());
        let text = response.text().await.unwrap();
        let reply = Reply { status, headers, json: serde_json::from_str(&text).unwrap_or(Value::Null), text };
        if let Err(breach) = contract().check(&method, &path, sent.as_ref(), &reply) {
            panic!("the OpenAPI document disagrees: {method} {path}: {breach}\n{} {}", reply.status, reply.text);
        }
        reply
    }

    pub async fn get(&self, path: &str) -> Reply {
        self.send(self.request(Method::GET, path)).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Reply {
        self.send(self.request(Method::POST, path).json(body)).await
    }

    pub async fn delete(&self, path: &str) -> Reply {
        self.send(self.request(Method::DELETE, path)).await
    }

    /// Creates a payment with an Idempotency-Key.
    pub async fn pay(&self, key: &str, body: &Value) -> Reply {
        self.send(self.request(Method::POST, "/v1/payments").header("Idempotency-Key", key).json(body)).await
    }
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
