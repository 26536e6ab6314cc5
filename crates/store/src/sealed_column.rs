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
    RefundDestination,
    RefundClaim,
    NoticeUrl,
    NoticeSecret,
    PreviousNoticeSecret,
}

impl SealedColumn {
    pub const ALL: [SealedColumn; 11] = [
        SealedColumn::WebhookSecret,
        SealedColumn::PreviousWebhookSecret,
        SealedColumn::BankCredential,
        SealedColumn::FactorSecret,
        SealedColumn::LetterAddress,
        SealedColumn::LetterContent,
        SealedColumn::RefundDestination,
        SealedColumn::RefundClaim,
        SealedColumn::NoticeUrl,
        SealedColumn::NoticeSecret,
        SealedColumn::PreviousNoticeSecret,
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
            SealedColumn::RefundDestination => "refunds.destination_number",
            SealedColumn::RefundClaim => "refunds.claim_token",
            SealedColumn::NoticeUrl => "notice_targets.url",
            SealedColumn::NoticeSecret => "notice_targets.secret",
            SealedColumn::PreviousNoticeSecret => "notice_targets.previous_secret",
        }
    }
}
