//! A client of the API that compares every answer with the OpenAPI document.

use std::net::SocketAddr;

use reqwest::{Client, Method, RequestBuilder};
use serde_json::Value;

use crate::{Reply, contract, plain_client};

/// Calls the API, with a key or without.
#[derive(Clone)]
pub struct Api {
    client: Client,
    base_url: String,
    key: Option<String>,
}

impl Api {
    pub fn new(address: SocketAddr, key: Option<&str>) -> Api {
        let client = plain_client().build().unwrap();
        Api { client, base_url: format!("http://{address}"), key: key.map(str::to_owned) }
    }

    pub fn with_key(&self, key: &str) -> Api {
        Api { key: Some(key.to_owned()), ..self.clone() }
    }

    /// A request to complete and send with [`Api::send`].
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
