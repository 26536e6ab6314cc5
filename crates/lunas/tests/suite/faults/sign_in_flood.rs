//! Many people sign in at once.

use std::fs;

use futures_util::future::join_all;

use crate::support::{commands::dev, customer::Customer, people::sign_in, wait::until};

/// What checking one password takes.
const HASH_KIB: u64 = 19 * 1_024;
/// Passwords that are checked at once, at most.
const AT_ONCE_MOST: u64 = 4;

/// The memory of the process itself, without the parts of its program that are in memory.
fn allocated_kib(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forty_eight_sign_ins_sixteen_at_once_take_the_memory_of_a_few_and_give_it_back() {
    let (_program, running) = dev();
    let (email, password) = (running.said("dashboard_email"), running.said("dashboard_password"));
    let browsers: Vec<Customer> = (0..16).map(|_| Customer::at(running.address())).collect();
    assert_eq!(sign_in(&browsers[0], email, password).await.status, 303);
    let before = allocated_kib(running.id());
    for _ in 0..3 {
        let replies = join_all(browsers.iter().map(|browser| sign_in(browser, email, password))).await;
        let statuses: Vec<u16> = replies.iter().map(|reply| reply.status.as_u16()).collect();
        assert_eq!(statuses, [303; 16]);
    }
    let grown = allocated_kib(running.id()).saturating_sub(before);
    // One more for everything else that so many requests leave behind.
    assert!(grown < (AT_ONCE_MOST + 1) * HASH_KIB, "{grown} KiB more are in use");
    // All else that the server has allocated is about as much as one password takes, so one that is kept would be twice as much.
    until(async || allocated_kib(running.id()) < HASH_KIB * 3 / 2).await;
}
