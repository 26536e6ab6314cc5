//! What a bank holds about one account of a merchant.

use url::Url;

use crate::{crypto::BankKey, style::Style};

/// How long `partnerServiceId` is, padded with spaces on the left.
const PARTNER_SERVICE_ID_LENGTH: usize = 8;

/// One contract: where the merchant's doors are, and what opens them. It has no `Debug`, since it holds a secret.
#[derive(Clone)]
pub struct Contract {
    /// How this bank calls the contract. Journal and screens go by it.
    pub name: String,
    /// The merchant's doors, without `/v1.0/…` and without a slash at the end.
    pub inbound_url: String,
    /// The beginning of the path that is signed, if it is not the path of `inbound_url`.
    pub signed_prefix: Option<String>,
    /// Issued to the bank by the merchant's side.
    pub client_id: String,
    pub client_secret: String,
    /// The company code, without padding.
    pub company_code: String,
    /// The bank's own key, whose public part the merchant's side has imported.
    pub key: BankKey,
    pub style: Style,
}

impl Contract {
    /// The bank's public key, for the operator to import.
    pub fn public_key_pem(&self) -> String {
        self.key.public_key_pem()
    }

    /// The company code, padded to eight characters.
    pub fn partner_service_id(&self) -> String {
        format!("{:>PARTNER_SERVICE_ID_LENGTH$}", self.company_code)
    }

    /// The customer's part of a number. A number of another company is taken as it is.
    pub fn customer_number<'a>(&self, number: &'a str) -> &'a str {
        number.strip_prefix(self.company_code.as_str()).filter(|rest| !rest.is_empty()).unwrap_or(number)
    }

    /// The address of a service.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.inbound_url.trim_end_matches('/'))
    }

    /// The path of a service as the signature has it.
    pub(crate) fn signed_path(&self, path: &str) -> String {
        let own = || Url::parse(&self.inbound_url).map(|url| url.path().trim_end_matches('/').to_owned());
        let prefix = self.signed_prefix.clone().unwrap_or_else(|| own().unwrap_or_default());
        prefix + path
    }
}
