//! Connections of the pool while one query or commit uses them, and the parameters of its statements.

use deadpool_postgres::{Object, Pool};
use tokio::sync::OwnedSemaphorePermit;
use tokio_postgres::types::ToSql;

use super::connect::Connector;
use crate::{error::StoreError, value::Value};

/// A connection that returns to the pool only when it is known to be idle. If its caller goes away in the middle of a
/// query, the connection and the caller's permit stay taken until the server has finished.
pub(super) struct Borrowed {
    connection: Option<(Object, Option<OwnedSemaphorePermit>)>,
    connector: Connector,
}

impl Borrowed {
    pub(super) async fn from(
        pool: &Pool,
        connector: &Connector,
        permit: Option<OwnedSemaphorePermit>,
    ) -> Result<Borrowed, StoreError> {
        Ok(Borrowed { connection: Some((connector.take(pool).await?, permit)), connector: connector.clone() })
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
        let connector = self.connector.clone();
        let retire = async move {
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
