//! Refunds of the sandbox, compared with payments that become paid. Each refund is of a payment of its own.

use std::io;

use crate::{
    bench::Bench,
    load::{self, CONNECTIONS, Rate},
    process::Served,
    report::{Finding, at_least},
    requests::{QRIS, creates, ids_of, pays, refunds},
    rounds::interleave,
};

impl Bench {
    /// The refunds end by themselves meanwhile, within seconds, as deliveries of paid payments go out while these are measured.
    pub(crate) async fn refund(&mut self) -> io::Result<Vec<Finding>> {
        let product = self.product().await?;
        let (prepared, run_id) = (self.prepared(), std::process::id());
        let measured = interleave(
            self.rounds,
            |round| refunded(&product, prepared, format!("refunded-{round}-{run_id}")),
            |round| paid(&product, prepared, format!("only-paid-{round}-{run_id}")),
        )
        .await?;
        Ok(vec![at_least("refund", &measured, 400)])
    }
}

async fn paid(product: &Served, count: u64, run: String) -> io::Result<Rate> {
    let created = load::collect(product.address, CONNECTIONS, count, &creates(product, QRIS, &run)).await?;
    load::count(product.address, CONNECTIONS, count, &pays(product, created)?).await
}

async fn refunded(product: &Served, count: u64, run: String) -> io::Result<Rate> {
    let created = load::collect(product.address, CONNECTIONS, count, &creates(product, QRIS, &run)).await?;
    let ids = ids_of(created.clone())?;
    load::collect(product.address, CONNECTIONS, count, &pays(product, created)?).await?;
    load::count(product.address, CONNECTIONS, count, &refunds(product, ids, run)).await
}
