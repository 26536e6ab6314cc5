//! The network requests of a page, put together from chromedriver's performance log.

use std::collections::HashMap;

use serde_json::Value;

/// One request of a page and its answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transfer {
    pub url: String,
    pub method: String,
    /// None while there is no answer, or if the request failed.
    pub status: Option<u16>,
    /// The bytes received: head and compressed body; 0 if the browser had the answer in its cache.
    pub bytes: u64,
    pub from_cache: bool,
    /// Whether the answer is an event stream, which does not end by itself.
    pub is_stream: bool,
    pub is_finished: bool,
}

/// All transfers so far, in the order in which they began.
#[derive(Default)]
pub(super) struct Traffic {
    transfers: Vec<Transfer>,
    /// The index of the transfer for each request id. A redirect has the id of its request.
    current: HashMap<String, usize>,
}

impl Traffic {
    /// Adds an entry of chromedriver's performance log.
    pub(super) fn note(&mut self, entry: &Value) {
        let event: Value = serde_json::from_str(entry["message"].as_str().unwrap_or_default()).unwrap_or_default();
        let (event, parameters) = (&event["message"]["method"], &event["message"]["params"]);
        let id = parameters["requestId"].as_str().unwrap_or_default();
        if event == "Network.requestWillBeSent" {
            self.begin(id, parameters);
        } else if let Some(transfer) = self.current.get(id).and_then(|index| self.transfers.get_mut(*index)) {
            transfer.go_on(event.as_str().unwrap_or_default(), parameters);
        }
    }

    fn begin(&mut self, id: &str, parameters: &Value) {
        let redirect = &parameters["redirectResponse"];
        if let Some(index) = self.current.get(id).filter(|_| redirect.is_object()) {
            self.transfers[*index].note_response(redirect);
            self.transfers[*index].is_finished = true;
        }
        let word = |name: &str| parameters["request"][name].as_str().unwrap_or_default().to_owned();
        let url = word("url");
        // URLs such as `data:` cause no network request.
        if url.starts_with("http") {
            self.current.insert(id.to_owned(), self.transfers.len());
            self.transfers.push(Transfer { url, method: word("method"), ..Transfer::default() });
        }
    }

    pub(super) fn all_finished(&self) -> bool {
        self.transfers.iter().all(|transfer| transfer.is_finished || transfer.is_stream)
    }

    pub(super) fn into_transfers(self) -> Vec<Transfer> {
        self.transfers
    }
}

impl Transfer {
    fn go_on(&mut self, event: &str, parameters: &Value) {
        match event {
            "Network.responseReceived" => {
                self.note_response(&parameters["response"]);
                self.is_stream = parameters["type"] == "EventSource";
            }
            "Network.requestServedFromCache" => self.from_cache = true,
            "Network.dataReceived" => self.bytes += parameters["encodedDataLength"].as_u64().unwrap_or(0),
            // This event has the exact total.
            "Network.loadingFinished" => {
                self.bytes = whole(&parameters["encodedDataLength"]);
                self.is_finished = true;
            }
            "Network.loadingFailed" => self.is_finished = true,
            _ => {}
        }
        if self.from_cache {
            self.bytes = 0;
        }
    }

    fn note_response(&mut self, response: &Value) {
        self.status = response["status"].as_u64().and_then(|status| u16::try_from(status).ok());
        self.bytes += whole(&response["encodedDataLength"]);
        self.from_cache |= response["fromDiskCache"] == true || response["fromPrefetchCache"] == true;
    }
}

/// A number of bytes; the log may write it as a decimal fraction.
fn whole(value: &Value) -> u64 {
    value.as_u64().or_else(|| Some(value.as_f64()? as u64)).unwrap_or(0)
}
