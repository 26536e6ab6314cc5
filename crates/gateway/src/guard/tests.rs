use std::{
    io,
    sync::atomic::{AtomicUsize, Ordering},
};

use super::*;
use crate::lookups::BoxFuture;

const PUBLIC: &str = "public";

fn guard() -> AddressGuard {
    AddressGuard::new(Vec::new(), false)
}

fn development() -> AddressGuard {
    AddressGuard::new(Vec::new(), true)
}

fn allowing(networks: &[&str]) -> AddressGuard {
    AddressGuard::new(networks.iter().map(|network| network.parse().unwrap()).collect(), false)
}

/// `reason` is part of the expected error, or [`PUBLIC`] when the URL must be allowed.
fn check(guard: &AddressGuard, https_only: bool, text: &str, reason: &str) {
    match guard.check_url(text, https_only) {
        Ok(_) => assert_eq!(reason, PUBLIC, "{text} was let through"),
        Err(refusal) => {
            let said = refusal.to_string();
            assert!(reason != PUBLIC && said.contains(reason), "{text}: expected `{reason}`, got `{said}`");
        }
    }
}

fn check_all(rows: &[(&str, &str)]) {
    for (text, reason) in rows {
        check(&guard(), false, text, reason);
    }
}

#[test]
fn public_addresses_are_allowed() {
    check_all(&[
        ("https://shop.example", PUBLIC),
        ("http://shop.example/hook", PUBLIC),
        ("HTTPS://Shop.Example:8443/hook?token=a&b=%20", PUBLIC),
        ("https://shop.example./hook", PUBLIC),
        ("https://shop.example/a@b?c=@d", PUBLIC),
        ("https://shop.example//double", PUBLIC),
        ("https://toko-é.example/", PUBLIC),
        ("https://xn--toko--fsa.example/", PUBLIC),
        ("http://8.8.8.8/", PUBLIC),
        ("http://134744072/", PUBLIC),
        ("http://[2606:4700:4700::1111]:8080/", PUBLIC),
        ("http://[64:ff9b::808:808]/", PUBLIC),
        ("https://localhost.example/", PUBLIC),
        ("https://notlocalhost/", PUBLIC),
    ]);
}

#[test]
fn what_is_not_an_absolute_web_address_is_refused() {
    check_all(&[
        ("", "absolute"),
        ("shop.example", "absolute"),
        ("/hook", "absolute"),
        ("//shop.example/hook", "absolute"),
        ("https:shop.example", "absolute"),
        ("https:/shop.example", "absolute"),
        ("https:///shop.example", "absolute"),
        ("ftp://shop.example/", "absolute"),
        ("file:///etc/passwd", "absolute"),
        ("gopher://127.0.0.1:6379/_PING", "absolute"),
        ("javascript://shop.example/", "absolute"),
        ("ws://shop.example/", "absolute"),
        ("unix:///run/docker.sock", "absolute"),
        ("jar:http://shop.example!/", "absolute"),
        // Without a host, or with an invalid one.
        ("http://", "cannot be read"),
        ("http://?query", "cannot be read"),
        ("http://:80/", "cannot be read"),
        ("http://shop.example:99999/", "cannot be read"),
        ("http://shop.example:port/", "cannot be read"),
        ("http://256.1.1.1/", "cannot be read"),
        ("http://1.2.3.4.5/", "cannot be read"),
        ("http://0x100000000/", "cannot be read"),
        ("http://[::1", "cannot be read"),
        ("http://[fe80::1%25eth0]/", "cannot be read"),
        ("http://shop<>.example/", "cannot be read"),
    ]);
}

#[test]
fn what_would_hide_the_host_from_a_reader_is_refused() {
    check_all(&[
        ("http://user:word@shop.example/", "password"),
        ("http://user@shop.example/", "user name"),
        ("http://@shop.example/", "user name"),
        ("http://shop.example@127.0.0.1/", "user name"),
        ("http://127.0.0.1:80@shop.example/", "user name"),
        ("https://shop.example/#part", "fragment"),
        ("https://shop.example#@127.0.0.1/", "fragment"),
        ("https://shop.example\\@127.0.0.1/", "backslash"),
        ("http:\\\\127.0.0.1\\", "backslash"),
        (" https://shop.example/", "white space"),
        ("https://shop.example/\n", "white space"),
        ("https://shop\t.example/", "white space"),
        ("https://shop.example/\0", "control character"),
        ("https://shop.example/a b", "white space"),
    ]);
}

#[test]
fn the_server_itself_is_refused_however_it_is_written() {
    check_all(&[
        ("http://localhost/", "means the server itself"),
        ("http://LOCALHOST:3000/", "means the server itself"),
        ("http://localhost./", "means the server itself"),
        ("http://app.localhost/", "means the server itself"),
        ("http://127.0.0.1/", "127.0.0.1 is a loopback address"),
        ("http://127.0.0.1./", "127.0.0.1 is a loopback address"),
        ("http://127.8.9.10/", "loopback"),
        ("http://2130706433/", "127.0.0.1 is a loopback address"),
        ("http://0x7f000001/", "127.0.0.1 is a loopback address"),
        ("http://017700000001/", "127.0.0.1 is a loopback address"),
        ("http://0x7f.1/", "127.0.0.1 is a loopback address"),
        ("http://127.1/", "127.0.0.1 is a loopback address"),
        ("http://127.0.1/", "127.0.0.1 is a loopback address"),
        ("http://0177.0.0.0x1/", "127.0.0.1 is a loopback address"),
        ("http://%31%32%37.0.0.1/", "127.0.0.1 is a loopback address"),
        ("http://①②⑦.⓪.⓪.①/", "127.0.0.1 is a loopback address"),
        ("http://１２７.0.0.1/", "127.0.0.1 is a loopback address"),
        ("http://127。0。0。1/", "127.0.0.1 is a loopback address"),
        ("http://127.0.\u{ad}0.1/", "127.0.0.1 is a loopback address"),
        ("http://[::1]/", "::1 is a loopback address"),
        ("http://[0:0:0:0:0:0:0:1]/", "::1 is a loopback address"),
        ("http://[::ffff:127.0.0.1]/", "stands for 127.0.0.1, which is a loopback address"),
        ("http://[::ffff:7f00:1]/", "stands for 127.0.0.1, which is a loopback address"),
        ("http://[::7f00:1]/", "stands for 127.0.0.1, which is a loopback address"),
        ("http://0/", "unspecified"),
        ("http://0.0.0.0:8080/", "unspecified"),
        ("http://[::]/", "unspecified"),
    ]);
}

#[test]
fn addresses_that_are_not_public_are_refused_however_they_are_written() {
    check_all(&[
        // Machines in the server's own network.
        ("https://10.0.0.7/", "10.0.0.7 is a private address; webhooks go to public addresses only"),
        ("https://012.0.0.7/", "10.0.0.7 is a private address"),
        ("https://167772167/", "10.0.0.7 is a private address"),
        ("https://172.16.5.4/", "private"),
        ("https://192.168.1.1:8443/", "private"),
        ("https://0xc0a80101/", "192.168.1.1 is a private address"),
        ("https://100.64.0.1/", "carrier"),
        ("https://[fd12:3456::1]/", "private"),
        ("https://[fec0::1]/", "private"),
        ("https://[2002:a00:7::]/", "stands for 10.0.0.7, which is a private address"),
        ("https://[2001:0:808:808::3f57:fffe]/", "stands for 192.168.0.1, which is a private address"),
        // Where clouds serve a machine's credentials.
        ("http://169.254.169.254/latest/meta-data/", "link-local"),
        ("http://0xa9fea9fe/", "169.254.169.254 is a link-local address"),
        ("http://[::ffff:169.254.169.254]/", "stands for 169.254.169.254, which is a link-local address"),
        ("http://[64:ff9b::a9fe:a9fe]/", "stands for 169.254.169.254, which is a link-local address"),
        ("http://[fd00:ec2::254]/", "private"),
        ("http://[fe80::1]/", "link-local"),
        ("http://168.63.129.16/", "inside a cloud"),
        // Addresses that belong to no single machine.
        ("http://224.0.0.1/", "multicast"),
        ("http://[ff02::1]/", "multicast"),
        ("http://255.255.255.255/", "broadcast"),
        ("http://4294967295/", "broadcast"),
        ("http://240.0.0.1/", "reserved"),
        ("http://192.0.2.1/", "documentation"),
        ("http://[2001:db8::1]/", "documentation"),
        ("http://198.18.0.1/", "benchmarks"),
        ("http://192.0.0.192/", "protocols"),
        ("http://[64:ff9b:1::808:808]/", "local translator"),
        ("http://[::ffff:8.8.8.8]/", "IPv4-mapped"),
        ("http://[100::1]/", "reserved"),
    ]);
}

#[test]
fn ports_on_which_no_web_server_listens_are_refused_whatever_the_address() {
    for port in [0, 1, 22, 25, 53, 110, 143, 465, 587, 6000, 6667, 10080] {
        check(&guard(), false, &format!("https://shop.example:{port}/"), &format!("port {port},"));
        check(&development(), false, &format!("http://127.0.0.1:{port}/"), &format!("port {port},"));
        check(&allowing(&["10.0.0.0/8"]), false, &format!("http://10.0.0.7:{port}/"), &format!("port {port},"));
    }
    for port in [80, 443, 3000, 8000, 8080, 8443, 9000, 65535] {
        check(&guard(), false, &format!("https://shop.example:{port}/"), PUBLIC);
        check(&guard(), false, &format!("http://shop.example:{port}/"), PUBLIC);
    }
}

#[test]
fn production_takes_https_only_and_long_urls_are_refused_everywhere() {
    check(&guard(), true, "https://shop.example/", PUBLIC);
    check(&guard(), true, "http://shop.example/", "must start with https://");
    let url = |bytes: usize| format!("https://shop.example/{}", "a".repeat(bytes - 21));
    check(&guard(), true, &url(2_048), PUBLIC);
    check(&guard(), true, &url(2_049), "longer than 2048 bytes");
    // Bytes count, not characters.
    check(&guard(), true, &format!("https://shop.example/{}", "é".repeat(1_100)), "longer than 2048 bytes");
}

#[test]
fn development_reaches_the_machine_itself_and_no_further() {
    for text in
        ["http://localhost:3000/", "http://app.localhost/", "http://127.0.0.1/", "http://[::1]/", "http://127.9/"]
    {
        check(&development(), false, text, PUBLIC);
    }
    check(&development(), false, "http://[::ffff:127.0.0.1]/", PUBLIC);
    check(&development(), false, "http://0.0.0.0/", "unspecified");
    check(&development(), false, "http://10.0.0.7/", "private");
    check(&development(), false, "http://[64:ff9b::7f00:1]/", "loopback");
}

#[test]
fn networks_that_the_installation_names_are_open_and_others_stay_shut() {
    let guard = allowing(&["10.1.0.0/16", "fd12::/16", "64:ff9b:1::/48"]);
    for text in ["http://10.1.2.3/", "http://[::ffff:10.1.2.3]/", "http://[fd12::5]/", "http://[64:ff9b:1::808:808]/"] {
        check(&guard, false, text, PUBLIC);
    }
    check(&guard, false, "http://10.2.0.1/", "private");
    check(&guard, false, "http://[fd13::5]/", "private");
    check(&guard, false, "http://[64:ff9b::a01:203]/", "private");
    check(&guard, false, "http://127.0.0.1/", "loopback");
    check(&guard, false, "http://localhost/", "means the server itself");
    check(&allowing(&["127.0.0.0/8"]), false, "http://localhost/", PUBLIC);
    check(&allowing(&["::1/128"]), false, "http://localhost/", PUBLIC);
    check(&allowing(&["::1/128"]), false, "http://127.0.0.1/", "loopback");
}

/// Answers each query with the next list of addresses, and with the last list from then on.
struct Answers {
    lists: Vec<Vec<&'static str>>,
    asked: AtomicUsize,
}

impl Resolve for Answers {
    fn resolve<'a>(&'a self, _host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        let turn = self.asked.fetch_add(1, Ordering::Relaxed).min(self.lists.len() - 1);
        let addresses = self.lists[turn].iter().map(|address| address.parse().unwrap()).collect();
        Box::pin(std::future::ready(Ok(addresses)))
    }
}

fn answering(guard: AddressGuard, lists: &[&[&'static str]]) -> AddressGuard {
    let lists = lists.iter().map(|list| list.to_vec()).collect();
    guard.with_resolver(Arc::new(Answers { lists, asked: AtomicUsize::new(0) }))
}

async fn refusal(guard: &AddressGuard, host: &str) -> String {
    guard.addresses(host).await.unwrap_err().to_string()
}

/// The same for each reason, as it would tell which names exist in the operator's network.
const UNRESOLVED: &str =
    "the name shop.example cannot be resolved to public addresses; webhooks go to public addresses only";

/// A DNS server that knows no name.
struct NoSuchName;

impl Resolve for NoSuchName {
    fn resolve<'a>(&'a self, _host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(std::future::ready(Err(io::Error::other("no such name"))))
    }
}

/// Regression: a merchant learned by the refusal which internal names exist.
#[tokio::test(start_paused = true)]
async fn a_name_that_does_not_exist_is_refused_like_one_whose_address_is_blocked() {
    let internal = answering(guard(), &[&["10.0.0.7"]]);
    let without_address = answering(guard(), &[&[]]);
    let unknown = guard().with_resolver(Arc::new(NoSuchName));
    let silent = guard().with_resolver(Arc::new(Silent));
    for guard in [internal, without_address, unknown, silent] {
        assert_eq!(refusal(&guard, "shop.example").await, UNRESOLVED);
        let saved = guard.check_target("https://shop.example/hook", true).await;
        assert_eq!(saved.unwrap_err(), BlockedAddress::Unresolved { host: "shop.example".to_owned() });
    }
}

#[tokio::test]
async fn a_name_is_blocked_when_one_of_its_addresses_is() {
    let good = answering(guard(), &[&["8.8.8.8", "2606:4700:4700::1111"]]);
    assert_eq!(good.addresses("shop.example").await.unwrap().len(), 2);
    let mixed = answering(guard(), &[&["8.8.8.8", "10.0.0.7"]]);
    let hidden = answering(guard(), &[&["64:ff9b::a00:7"]]);
    for guard in [mixed, hidden] {
        assert_eq!(refusal(&guard, "shop.example").await, UNRESOLVED);
    }
    assert!(answering(development(), &[&["127.0.0.1", "::1"]]).addresses("app.localhost").await.is_ok());
}

#[tokio::test]
async fn a_name_is_resolved_again_every_time_it_is_checked() {
    let guard = answering(guard(), &[&["8.8.8.8"], &["127.0.0.1"]]);
    assert!(guard.check_target("https://shop.example/hook", true).await.is_ok());
    let refused = guard.check_target("https://shop.example/hook", true).await.unwrap_err();
    assert!(matches!(refused, BlockedAddress::Unresolved { .. }), "{refused}");
}

#[tokio::test]
async fn the_system_resolves_localhost_and_no_invalid_name() {
    let found = development().addresses("localhost").await.unwrap();
    assert!(!found.is_empty() && found.iter().all(IpAddr::is_loopback));
    assert!(refusal(&guard(), "localhost").await.contains("cannot be resolved to public addresses"));
    // A label of this length is invalid, so no DNS server is asked.
    let unknown = refusal(&guard(), &format!("{}.invalid", "a".repeat(64))).await;
    assert!(unknown.contains("cannot be resolved"), "{unknown}");
}

/// A resolver that never answers.
struct Silent;

impl Resolve for Silent {
    fn resolve<'a>(&'a self, _host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test(start_paused = true)]
async fn a_look_up_without_an_answer_times_out() {
    let guard = guard().with_resolver(Arc::new(Silent));
    assert_eq!(refusal(&guard, "shop.example").await, UNRESOLVED);
}
