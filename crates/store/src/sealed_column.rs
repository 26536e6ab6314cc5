//! The columns whose values are encrypted with the installation's secret key. Everything that must look at all of them
//! (rotation of the key, `lunas doctor`, `lunas verify`) goes through this list.

/// A column of encrypted values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SealedColumn {
    WebhookSecret,
    PreviousWebhookSecret,
    BankCredential,
    FactorSecret,
    LetterAddress,
    LetterContent,
}

impl SealedColumn {
    pub const ALL: [SealedColumn; 6] = [
        SealedColumn::WebhookSecret,
        SealedColumn::PreviousWebhookSecret,
        SealedColumn::BankCredential,
        SealedColumn::FactorSecret,
        SealedColumn::LetterAddress,
        SealedColumn::LetterContent,
    ];

    /// The table and the column. Encrypted values are bound to this text, so it stays as it is for ever, even if the
    /// column is renamed.
    pub const fn name(self) -> &'static str {
        match self {
            SealedColumn::WebhookSecret => "projects.webhook_secret",
            SealedColumn::PreviousWebhookSecret => "projects.previous_webhook_secret",
            SealedColumn::BankCredential => "bank_credentials.sealed",
            SealedColumn::FactorSecret => "second_factors.sealed",
            SealedColumn::LetterAddress => "letters.address",
            SealedColumn::LetterContent => "letters.content",
        }
    }
}
