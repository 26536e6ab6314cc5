//! The JSON of a notice: a letter as a request to a URL of a merchant or an operator.

use serde::Serialize;

/// A letter as it is sent to a URL. It stays the same when it is sent again.
#[derive(Serialize)]
pub struct NoticeJson<Values> {
    /// The same whenever it is sent again, so that a receiver can tell that it has it.
    pub id: String,
    /// `notice`, which no event has as its type.
    #[serde(rename = "type")]
    pub of_type: &'static str,
    /// What the letter is about.
    pub kind: &'static str,
    pub language: &'static str,
    pub subject: String,
    /// Plain text, ready to be passed on.
    pub text: String,
    /// What the text says, by name.
    pub values: Values,
    /// None where it is about the installation.
    pub project_id: Option<String>,
    pub created_at: String,
}

/// What `type` says of every notice.
pub const NOTICE: &str = "notice";

impl<Values: Serialize> NoticeJson<Values> {
    /// The bytes that are signed and sent.
    #[expect(clippy::expect_used, reason = "a notice is made of texts and numbers, which always have a JSON form")]
    pub fn body(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a notice has a JSON form")
    }
}
