//! `/v1/payments`: sections 2.3, 2.4, 4.1 to 4.3 of the contract.

use serde_json::json;
use testkit::on_every_database;

use crate::samples::{qris, virtual_account};

#[tokio::test]
async fn a_new_key_creates_a_pending_payment_with_every_field() {
    on_every_database(|kit| async move {
        let project = kit.sandbox().await;
        let payment = project.api.pay("k-1", &qris(&project, 15_000)).await.expect(201);
        assert_eq!(payment["status"], "pending");
        assert_eq!(payment["payment_link_id"], json!(null));
        let account = project.api.pay("k-2", &virtual_account(&project, "bca", 15_000)).await.expect(201);
        assert_eq!(account["instructions"]["bank_name"], "Bank Central Asia (BCA)");
        let paid = project
            .api
            .post(
                &format!("/v1/sandbox/payments/{}/simulate", payment["id"].as_str().unwrap()),
                &json!({ "outcome": "paid" }),
            )
            .await
            .expect(200);
        assert_eq!(paid["status"], "paid");
        let listed = project.api.get("/v1/payments?page_size=1").await.expect(200);
        assert_eq!(listed["pagination"], json!({ "page": 1, "page_size": 1, "total_items": 2, "total_pages": 2 }));
        let events = project.api.get("/v1/events").await.expect(200);
        assert_eq!(events["data"][0]["type"], "payment.paid");
    })
    .await;
}
