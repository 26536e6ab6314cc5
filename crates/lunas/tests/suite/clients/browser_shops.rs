//! A customer's way through each example shop in a real browser: from the cart to an order that is "Lunas".

use std::{
    fs,
    net::SocketAddr,
    os::unix::fs::PermissionsExt,
    process::{Child, Command, Stdio},
};

use serde_json::json;
use testkit::{Browser, Look, exchange, request_bytes};
use tokio::net::TcpStream;

use crate::support::{
    commands::dev,
    repository::root,
    scripts::{script, unused_address, webhook_address},
    wait::until,
};

/// A shop's process. It is killed when this value is dropped.
struct Shop(Child);

impl Drop for Shop {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Sends a webhook that says that the order is paid, but that nobody with the secret has signed.
async fn refuses_a_forged_webhook(shop: SocketAddr, order: &str) {
    let data = json!({ "id": "pay_1", "reference": order, "amount": 68_000, "status": "paid" });
    let event = json!({ "id": "evt_1", "type": "payment.paid", "created_at": "", "data": data }).to_string();
    let signature = format!("t=1763300000,v1={}", "0".repeat(64));
    let headers = [("Connection", "close"), ("X-Service-Signature", signature.as_str())];
    let answer = exchange(shop, &request_bytes("POST", "/hooks", &headers, event.as_bytes())).await;
    assert_eq!(answer.split(' ').nth(1), Some("400"), "{answer}");
}

/// The customer first goes back without paying, with an address that claims otherwise, and then pays.
async fn leads_from_the_cart_to_a_paid_order(words: &[&str]) {
    let (program, running) = dev();
    let address = webhook_address(&program, &running);
    let (shop_url, listen) = (format!("http://{address}"), address.to_string());
    // PHP is told the address by its own option.
    let words: Vec<&str> = words.iter().map(|&word| if word == "ADDRESS" { listen.as_str() } else { word }).collect();
    let mut command = script(&words, &running);
    command
        .env("PORT", address.port().to_string())
        .env("SHOP_URL", &shop_url)
        .env("SHOP_DATA", program.directory.path().join("shop"))
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let _shop = Shop(command.spawn().unwrap());
    until(|| async { TcpStream::connect(address).await.is_ok() }).await;

    let browser = Browser::open(Look::phone()).await;
    browser.goto(&shop_url).await;
    browser.wait_for_text("h1", "Keranjang").await;
    browser.check_page().await;
    let order = browser.value("input[name=order]").await;
    let order_url = format!("{shop_url}/orders/{order}");
    browser.click("form button").await;
    browser.choose("input[value=qris]").await;
    browser.click("form button.main").await;
    browser.wait_for_url(|url| url.contains("/pay/")).await;

    refuses_a_forged_webhook(address, &order).await;
    browser.goto(&format!("{order_url}?status=paid")).await;
    browser.wait_for_text("h1", "Menunggu pembayaran").await;
    browser.click("main a").await;
    browser.wait_for_url(|url| url.contains("/pay/")).await;
    browser.click("button[value=paid]").await;
    browser.wait_for_url(|url| url.starts_with(&order_url)).await;
    browser.wait_for_text("h1", "Lunas").await;
    browser.check_page().await;
    assert_eq!(browser.console_errors().await, [""; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_shop_in_node_leads_from_the_cart_to_a_paid_order() {
    leads_from_the_cart_to_a_paid_order(&["node", "examples/node/shop.js"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_shop_in_php_leads_from_the_cart_to_a_paid_order() {
    leads_from_the_cart_to_a_paid_order(&["php", "-S", "ADDRESS", "examples/php/shop.php"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_shop_in_python_leads_from_the_cart_to_a_paid_order() {
    leads_from_the_cart_to_a_paid_order(&["python3", "examples/python/shop.py"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_shop_in_php_keeps_its_orders_where_only_its_own_user_may_look() {
    let scratch = tempfile::tempdir().unwrap();
    let temporary = tempfile::tempdir().unwrap();
    for (from, to) in [("examples/php", "examples/php"), ("clients/php", "clients/php")] {
        let to = scratch.path().join(to);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        assert!(Command::new("cp").arg("-R").arg(root().join(from)).arg(to).status().unwrap().success());
    }
    let address = unused_address();
    let mut command = Command::new("php");
    command
        .args(["-S", &address.to_string(), "examples/php/shop.php"])
        .current_dir(scratch.path())
        .env("TMPDIR", temporary.path())
        .env_remove("SHOP_DATA")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let _shop = Shop(command.spawn().unwrap());
    until(|| async { TcpStream::connect(address).await.is_ok() }).await;
    let headers = [("Connection", "close")];
    let answer = exchange(address, &request_bytes("GET", "/orders/ORDER-0123456789abcdef", &headers, b"")).await;
    assert_eq!(answer.split(' ').nth(1), Some("404"), "{answer}");

    let kept = scratch.path().join("lunas-shop-data");
    assert_eq!(fs::metadata(&kept).unwrap().permissions().mode() & 0o777, 0o700);
    assert!(kept.join("orders.json").is_file());
    assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 0, "nothing is in the temporary directory");
    for path in ["/lunas-shop-data/orders.json", "/orders.json"] {
        let answer = exchange(address, &request_bytes("GET", path, &headers, b"")).await;
        assert_eq!(answer.split(' ').nth(1), Some("404"), "{answer}");
    }
}

#[test]
fn each_shop_is_one_file_of_less_than_150_lines() {
    for shop in ["node/shop.js", "php/shop.php", "python/shop.py"] {
        let path = root().join("examples").join(shop);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "{shop} is the only file of its folder");
        assert!(fs::read_to_string(path).unwrap().lines().count() < 150, "{shop}");
    }
}
