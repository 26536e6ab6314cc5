//! What banks were told while an outcome was not known.

use domain::{
    time::Timestamp,
    undecided::{OpenWord, UndecidedFinding, UndecidedWord},
};

use crate::{
    Store,
    error::StoreError,
    value::{Columns, Query},
};

const DUE: &str = "SELECT account_id, external_id, request_id, number, amount, asked_at, said, said_at, finding, due_at, \
    tries FROM bank_undecided WHERE due_at <= $1 ORDER BY due_at LIMIT $2";

impl Store {
    /// The words that are to be looked after at `now`, the longest due first.
    pub async fn due_undecided(&self, now: Timestamp, most: i64) -> Result<Vec<OpenWord>, StoreError> {
        self.due(Query::new(DUE, [now.into(), most.into()]), open_word).await
    }
}

fn open_word(columns: &mut Columns<'_>) -> Result<OpenWord, StoreError> {
    Ok(OpenWord {
        word: UndecidedWord {
            account_id: columns.parsed()?,
            external_id: columns.text()?,
            request_id: columns.text()?,
            number: columns.text()?,
            amount: columns.rupiah()?,
            asked_at: columns.timestamp()?,
            said: columns.text()?,
            said_at: columns.timestamp()?,
        },
        finding: {
            let word = columns.optional_text()?;
            let unexpected = |word: &str| StoreError::unexpected(format!("{word:?} is no finding"));
            word.map(|word| UndecidedFinding::parse(&word).ok_or_else(|| unexpected(&word))).transpose()?
        },
        due_at: columns.timestamp()?,
        tries: columns.integer()?,
    })
}
