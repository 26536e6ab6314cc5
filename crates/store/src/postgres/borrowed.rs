//! Connections of the pool while one query or commit uses them, and the parameters of its statements.

use deadpool_postgres::{Object, Pool};
use tokio_postgres::types::ToSql;

use super::connect::Connector;
use crate::{error::StoreError, value::Value};

/// The right to use a connection of the pool, which ends when it is dropped.
pub(super) type Permit = Box<dyn Send + Sync>;

/// A connection that returns to the pool only when it is known to be idle. If its caller goes away in the middle of a
/// query, the connection and the caller's permit stay taken until the server has finished.
pub(super) struct Borrowed {
    connection: Option<(Object, Option<Permit>)>,
    connector: Connector,
    /// Whether the server is asked to cancel what it does when the caller goes away. A commit must never be cancelled.
    cancels: bool,
}

impl Borrowed {
    pub(super) async fn from(
        pool: &Pool,
        connector: &Connector,
        permit: Option<Permit>,
    ) -> Result<Borrowed, StoreError> {
        let connection = Some((connector.take(pool).await?, permit));
        Ok(Borrowed { connection, connector: connector.clone(), cancels: false })
    }

    /// For a caller that only reads: what it asked for is cancelled when it goes away.
    pub(super) fn reading_only(self) -> Borrowed {
        let mut borrowed = self;
        borrowed.cancels = true;
        borrowed
    }

    pub(super) fn get(&self) -> &Object {
        let connection = self.connection.as_ref().map(|(connection, _)| connection);
        connection.unwrap_or_else(|| unreachable!("a connection is returned to the pool once, at the end"))
    }

    pub(super) fn give_back(mut self) {
        drop(self.connection.take());
    }
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        let Some((connection, permit)) = self.connection.take() else { return };
        let (connector, cancels) = (self.connector.clone(), self.cancels);
        let retire = async move {
            if cancels {
                connector.cancel(&connection).await;
            }
            connector.finished(&connection, Object::metrics(&connection).created).await;
            // Taken out of the pool and closed.
            drop(Object::take(connection));
            drop(permit);
        };
        // There is no runtime when the process ends.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(retire);
        }
    }
}

/// A statement's parameters, as the client takes them.
pub(super) fn parameters(values: &[Value]) -> Vec<&(dyn ToSql + Sync)> {
    values.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}
