//! Lists and searches: what they cost with many payments, relative to what they cost with few.

use std::io;

use crate::{
    bench::Bench,
    load,
    prefill::{Lists, Prefilled},
    process::Served,
    report::{Finding, cost},
    requests::reads,
    rounds::interleave,
};

const CONNECTIONS: u64 = 8;
const FIRST_PAGE: &str = "/v1/payments?page=1&page_size=20";

impl Bench {
    pub(crate) async fn first_page(&self, name: &'static str, lists: &Lists) -> io::Result<Finding> {
        self.compare_sizes(name, lists, FIRST_PAGE.to_owned(), FIRST_PAGE.to_owned(), 2_000).await
    }

    pub(crate) async fn search(&self, name: &'static str, lists: &Lists) -> io::Result<Finding> {
        // A substring of exactly one reference in each list.
        let one = |list: &Prefilled| format!("/v1/payments?search=order-{}-", list.count / 2);
        self.compare_sizes(name, lists, one(&lists.small), one(&lists.large), 10_000).await
    }

    /// The same by the number of one account, which is looked for in every field.
    pub(crate) async fn search_words(&self, name: &'static str, lists: &Lists) -> io::Result<Finding> {
        let one = |list: &Prefilled| format!("/v1/payments?q={}", list.account_number(list.count / 2));
        self.compare_sizes(name, lists, one(&lists.small), one(&lists.large), 10_000).await
    }

    /// What a read costs on the large list, relative to what it costs on the small one.
    async fn compare_sizes(
        &self,
        name: &'static str,
        lists: &Lists,
        small_path: String,
        large_path: String,
        most: u64,
    ) -> io::Result<Finding> {
        let (small, large) = (Served::lunas(&lists.small.home).await?, Served::lunas(&lists.large.home).await?);
        let small_reads = reads(&small, move |_| small_path.clone());
        let large_reads = reads(&large, move |_| large_path.clone());
        let measured = interleave(
            self.rounds,
            |_| load::run(small.address, CONNECTIONS, self.duration, &small_reads),
            |_| load::run(large.address, CONNECTIONS, self.duration, &large_reads),
        )
        .await?;
        Ok(cost(name, &measured, most))
    }

    pub(crate) async fn middle_page(&self, name: &'static str, lists: &Lists) -> io::Result<Finding> {
        let large = Served::lunas(&lists.large.home).await?;
        let middle = lists.large.count / 20 / 2;
        let first = reads(&large, |_| FIRST_PAGE.to_owned());
        let deep = reads(&large, move |_| format!("/v1/payments?page={middle}&page_size=20"));
        let measured = interleave(
            self.rounds,
            |_| load::run(large.address, CONNECTIONS, self.duration, &first),
            |_| load::run(large.address, CONNECTIONS, self.duration, &deep),
        )
        .await?;
        Ok(cost(name, &measured, 5_000))
    }
}
