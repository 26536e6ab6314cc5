//! What every HTTP surface shares: the listener and its limits, request ids, client addresses, time-outs, cookies and sessions,
//! reading bodies and queries, and the page kit (layout of answers, words, headers, forms, style sheets and scripts).
//!
//! It never names or imports a surface. Each surface hands over one [`Surface`]: its routes, and how it words a failure.

mod address_slots;
mod app;
pub mod body;
mod caller_notes;
pub mod client;
mod connections;
pub mod etag;
mod failure;
mod handle_request;
mod idle_timeout;
pub mod limits;
pub mod page;
pub mod path;
pub mod payment_status;
pub mod query;
mod request_id;
mod server;
pub mod session;
pub mod stored_file;
pub mod stream;
mod surface;
mod unread_body;

pub use app::{App, Settings};
pub use caller_notes::{CallerNotes, LoggedCaller};
pub use engine::BlockingWork;
pub use failure::{Cause, Failure, Silence, chain, engine_status, retry_after};
pub use request_id::RequestId;
pub use server::{CONNECTIONS_MOST, Server, ServerConfig, Timeouts};
pub use surface::{FailureWording, ROOT, Surface, Surfaces};
