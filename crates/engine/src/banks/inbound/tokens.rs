//! Access tokens that we issue to banks. They are not stored: a token proves by a code that only this installation can
//! compute that it was issued for an account, and until when. It is bound to the credentials that it was issued for, so it
//! ends with them.

use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::{id::CredentialId, time::Timestamp};
use gateway::snap::{PublicKey, verify_client_timestamp};
use sha2::{Digest, Sha256};

use crate::{
    Engine,
    banks::contracts::{open_account::InboundClient, open_account::OpenAccount},
};

pub const TOKEN_LIFETIME: Duration = Duration::from_secs(900);

/// The end of a token's life, in bytes.
const EXPIRY_BYTES: usize = 8;

impl Engine {
    /// A token for a bank that has signed `client_id|timestamp` with one of its keys; none if it has not.
    pub fn bank_token(
        &self,
        open: &OpenAccount,
        client: &InboundClient,
        timestamp: &str,
        signature: &str,
    ) -> Option<String> {
        let signed =
            |key: &&(CredentialId, PublicKey)| verify_client_timestamp(&key.1, &client.client_id, timestamp, signature);
        let (key, _) = open.bank_keys.iter().find(signed)?;
        let expiry = self.now().plus(TOKEN_LIFETIME);
        let code = self.token_code(open, client.id, *key, expiry);
        Some(URL_SAFE_NO_PAD.encode([expiry.as_millis().to_be_bytes().as_slice(), &code].concat()))
    }

    /// The client that a token was issued to, while the token is alive.
    pub fn bank_client<'a>(&self, open: &'a OpenAccount, token: &str) -> Option<&'a InboundClient> {
        let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
        let (expiry, code) = bytes.split_first_chunk::<EXPIRY_BYTES>()?;
        let expiry = Timestamp::from_millis(i64::from_be_bytes(*expiry));
        let now = self.now();
        if expiry < now || expiry > now.plus(TOKEN_LIFETIME) {
            return None;
        }
        open.inbound.iter().find(|client| {
            open.bank_keys.iter().any(|(key, _)| {
                // Hashes are compared, so that the time it takes tells nothing about the code.
                Sha256::digest(self.token_code(open, client.id, *key, expiry)) == Sha256::digest(code)
            })
        })
    }

    fn token_code(&self, open: &OpenAccount, client: CredentialId, key: CredentialId, expiry: Timestamp) -> [u8; 32] {
        self.vault.derive(&format!("bank token {} {client} {key} {}", open.id(), expiry.as_millis()))
    }
}
