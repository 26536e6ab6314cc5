//! Contracts with banks: accounts, their settings and credentials, and who uses them.

use std::collections::BTreeMap;

use domain::{
    bank_account::{BankAccount, Credential, CredentialKind, Stage},
    id::{BankAccountId, ProjectId},
    method::Method,
    money::Rupiah,
    time::Timestamp,
};

use crate::{
    Store,
    change::BankCall,
    error::StoreError,
    value::{Columns, Query, Value},
};

const COLUMNS: &str = "id, name, profile, enabled, created_at, version";

/// The first numbers of an account, with what is told about them.
pub(crate) const FIRST_NUMBERS: &str = "SELECT COUNT(*), COUNT(*) FILTER (WHERE free_at >= $1), MAX(number) \
     FROM (SELECT number, free_at FROM bank_numbers WHERE account_id = $2 AND number >= $3 AND number < $4 \
     ORDER BY number LIMIT $5) AS first_numbers";

/// A credential with its secret part, which only the engine can open.
#[derive(Clone)]
pub struct SealedCredential {
    pub credential: Credential,
    pub sealed: Option<Vec<u8>>,
}

/// The first numbers of an account, in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstNumbers {
    pub read: i64,
    /// How many of those are in use or rest.
    pub taken: i64,
    pub last: Option<String>,
}

/// Strays that nobody has decided about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenStrays {
    pub count: i64,
    /// What they add up to, but for those whose amount is not known.
    pub amount: Rupiah,
    /// Those whose amount is not known.
    pub unreadable: i64,
}

impl Store {
    /// All accounts, in the order of their creation.
    pub async fn bank_accounts(&self) -> Result<Vec<BankAccount>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM bank_accounts ORDER BY id");
        let mut accounts = self.many(Query::new(sql, []), account).await?;
        let settings = "SELECT account_id, name, value FROM bank_settings ORDER BY account_id, name";
        let named =
            |columns: &mut Columns<'_>| Ok((columns.parsed::<BankAccountId>()?, columns.text()?, columns.text()?));
        for (id, name, value) in self.many(Query::new(settings, []), named).await? {
            if let Some(account) = accounts.iter_mut().find(|account| account.id == id) {
                account.settings.insert(name, value);
            }
        }
        Ok(accounts)
    }

    pub async fn bank_account(&self, id: BankAccountId) -> Result<Option<BankAccount>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM bank_accounts WHERE id = $1");
        let Some(account) = self.one(Query::new(sql, [Value::stored(id)]), account).await? else { return Ok(None) };
        let settings = "SELECT name, value FROM bank_settings WHERE account_id = $1 ORDER BY name";
        let named = |columns: &mut Columns<'_>| Ok((columns.text()?, columns.text()?));
        let settings: BTreeMap<_, _> =
            self.many(Query::new(settings, [Value::stored(id)]), named).await?.into_iter().collect();
        Ok(Some(BankAccount { settings, ..account }))
    }

    /// The account's version. Every call of a bank reads it, so that a change takes effect at once.
    pub async fn bank_account_version(&self, id: BankAccountId) -> Result<Option<i64>, StoreError> {
        let sql = "SELECT version FROM bank_accounts WHERE id = $1";
        self.one(Query::new(sql, [Value::stored(id)]), |columns| columns.integer()).await
    }

    pub async fn bank_credentials(&self, id: BankAccountId) -> Result<Vec<SealedCredential>, StoreError> {
        let sql = "SELECT id, account_id, kind, stage, client_id, public_key, set_at, sealed FROM bank_credentials \
                   WHERE account_id = $1 ORDER BY kind, stage";
        self.many(Query::new(sql, [Value::stored(id)]), credential).await
    }

    /// The projects that use the account, and for which methods.
    pub async fn bank_assignments(&self, id: BankAccountId) -> Result<Vec<(ProjectId, Method)>, StoreError> {
        let sql = "SELECT project_id, method FROM bank_assignments WHERE account_id = $1 \
                   ORDER BY project_id, CASE method WHEN 'qris' THEN 0 ELSE 1 END, method";
        let assigned = |columns: &mut Columns<'_>| Ok((columns.parsed()?, columns.method()?));
        self.many(Query::new(sql, [Value::stored(id)]), assigned).await
    }

    /// The account of each method of a project, whether or not the account is enabled.
    pub async fn project_accounts(&self, id: ProjectId) -> Result<Vec<(Method, BankAccountId)>, StoreError> {
        let sql = "SELECT method, account_id FROM bank_assignments WHERE project_id = $1 \
                   ORDER BY CASE method WHEN 'qris' THEN 0 ELSE 1 END, method";
        let assigned = |columns: &mut Columns<'_>| Ok((columns.method()?, columns.parsed()?));
        self.many(Query::new(sql, [Value::stored(id)]), assigned).await
    }

    /// Whether a number belongs to a payment at `now`, also one that has ended and for which the number still rests.
    pub async fn is_number_taken(&self, id: BankAccountId, number: &str, now: Timestamp) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM bank_numbers WHERE account_id = $1 AND number = $2 AND free_at >= $3";
        let parameters = [Value::stored(id), number.to_owned().into(), now.into()];
        Ok(self.one(Query::new(sql, parameters), |_| Ok(())).await?.is_some())
    }

    /// Reads at most `most` numbers of the account that begin with `prefix`, the lowest first.
    pub async fn first_numbers(
        &self,
        id: BankAccountId,
        prefix: &str,
        most: i64,
        now: Timestamp,
    ) -> Result<FirstNumbers, StoreError> {
        // The character after the last digit, so that all numbers with this prefix come before it.
        let end = format!("{prefix}:");
        let parameters = [now.into(), Value::stored(id), prefix.to_owned().into(), end.into(), most.into()];
        let first = |columns: &mut Columns<'_>| {
            Ok(FirstNumbers { read: columns.integer()?, taken: columns.integer()?, last: columns.optional_text()? })
        };
        let found = self.one(Query::new(FIRST_NUMBERS, parameters), first).await?;
        Ok(found.unwrap_or(FirstNumbers { read: 0, taken: 0, last: None }))
    }

    /// The latest calls between a bank and us, newest first.
    pub async fn bank_calls(&self, id: BankAccountId, most: i64) -> Result<Vec<BankCall>, StoreError> {
        self.calls(id, true, most).await
    }

    /// The latest calls at a bank's doors that have not proved to be the bank's, newest first.
    pub async fn unproved_calls(&self, id: BankAccountId, most: i64) -> Result<Vec<BankCall>, StoreError> {
        self.calls(id, false, most).await
    }

    async fn calls(&self, id: BankAccountId, proved: bool, most: i64) -> Result<Vec<BankCall>, StoreError> {
        let sql = "SELECT id, at, service, code, latency, outbound, proved FROM bank_calls WHERE account_id = $1 \
                   AND proved = $2 ORDER BY id DESC LIMIT $3";
        self.many(Query::new(sql, [Value::stored(id), proved.into(), most.into()]), call).await
    }
}

fn account(columns: &mut Columns<'_>) -> Result<BankAccount, StoreError> {
    Ok(BankAccount {
        id: columns.parsed()?,
        name: columns.text()?,
        profile: columns.text()?,
        enabled: columns.truth()?,
        created_at: columns.timestamp()?,
        version: columns.integer()?,
        settings: BTreeMap::new(),
    })
}

fn credential(columns: &mut Columns<'_>) -> Result<SealedCredential, StoreError> {
    Ok(SealedCredential {
        credential: Credential {
            id: columns.parsed()?,
            account_id: columns.parsed()?,
            kind: columns.word(CredentialKind::parse)?,
            stage: columns.word(Stage::parse)?,
            client_id: columns.optional_text()?,
            public_key: columns.optional_text()?,
            set_at: columns.timestamp()?,
        },
        sealed: columns.optional_bytes()?,
    })
}

fn call(columns: &mut Columns<'_>) -> Result<BankCall, StoreError> {
    Ok(BankCall {
        id: columns.text()?,
        at: columns.timestamp()?,
        service: columns.integer()?,
        code: columns.text()?,
        latency_ms: columns.integer()?,
        outbound: columns.truth()?,
        proved: columns.truth()?,
    })
}
