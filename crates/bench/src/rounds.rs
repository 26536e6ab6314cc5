//! Rounds: product and ceiling run alternately, and each round gives a ratio.

use std::{future::Future, io};

use crate::load::Rate;

/// The median rates of both sides, and the ratios of all rounds.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    pub(crate) product: u64,
    pub(crate) ceiling: u64,
    /// Product per ceiling of each round in thousandths, in ascending order.
    pub(crate) ratios: Vec<u64>,
}

impl Measured {
    pub(crate) fn median(&self) -> u64 {
        middle(&self.ratios)
    }
}

/// Runs both sides alternately, `rounds` times each, after one round that only warms up.
pub(crate) async fn interleave<Product, Ceiling>(
    rounds: usize,
    product: impl Fn(u64) -> Product,
    ceiling: impl Fn(u64) -> Ceiling,
) -> io::Result<Measured>
where
    Product: Future<Output = io::Result<Rate>>,
    Ceiling: Future<Output = io::Result<Rate>>,
{
    let (mut products, mut ceilings, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..=rounds as u64 {
        let (one, other) = (product(round).await?.per_second, ceiling(round).await?.per_second.max(1));
        if round > 0 {
            products.push(one);
            ceilings.push(other);
            ratios.push(one * 1_000 / other);
        }
    }
    for figures in [&mut products, &mut ceilings, &mut ratios] {
        figures.sort_unstable();
    }
    Ok(Measured { product: middle(&products), ceiling: middle(&ceilings), ratios })
}

pub(crate) fn middle(sorted: &[u64]) -> u64 {
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}
