//! The hosted checkout: how fast customers get the page on which they choose a payment method.

use std::{io, sync::Arc};

use crate::{
    bench::Bench,
    load::{self, CONNECTIONS, Requests},
    process::Served,
    report::{Finding, at_least},
    requests::{ids_of, posts},
    rounds::interleave,
};

/// Links that are opened in turn.
const LINKS: u64 = 500;

/// The headers of a phone's browser.
pub(crate) const BROWSER: &str = "User-Agent: Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) \
    Chrome/142.0.0.0 Mobile Safari/537.36\r\nAccept-Language: id-ID,id;q=0.9,en-US;q=0.8,en;q=0.7\r\n\
    Accept-Encoding: gzip, deflate, br, zstd\r\n";

impl Bench {
    /// The first page of a link with the project's default methods.
    pub(crate) async fn chooser(&mut self) -> io::Result<Vec<Finding>> {
        let product = &self.product().await?;
        let made = links(product);
        let ids = ids_of(load::collect(product.address, CONNECTIONS, LINKS, &made).await?)?;
        let pages: Requests = Arc::new(move |index, out| {
            page(&ids[index as usize % ids.len()], out);
        });
        let bytes = load::collect(product.address, 1, 1, &pages).await?.concat().len();
        let ceiling = Served::ceiling(&["page", &bytes.to_string()]).await?;
        let measured = interleave(
            self.rounds,
            |_| load::run(product.address, CONNECTIONS, self.duration, &pages),
            |_| load::run(ceiling.address, CONNECTIONS, self.duration, &pages),
        )
        .await?;
        let (count, before) = (self.prepared(), product.processor_time()?);
        load::count(product.address, CONNECTIONS, count, &pages).await?;
        let micros = (product.processor_time()? - before).as_micros() / u128::from(count);
        let one = Finding {
            group: "checkout",
            product: format!("{micros} µs"),
            ceiling: format!("of the server's cores for a page of {bytes} bytes"),
            ratio: "-".to_owned(),
            goal: "-".to_owned(),
            holds: None,
        };
        Ok(vec![at_least("checkout", &measured, 450), one])
    }
}

/// Opens the page of a link.
pub(crate) fn page(id: &str, out: &mut Vec<u8>) {
    let head = format!("GET /p/{id} HTTP/1.1\r\nHost: bench\r\n{BROWSER}Accept: text/html\r\n\r\n");
    out.extend_from_slice(head.as_bytes());
}

/// Creates links.
pub(crate) fn links(served: &Served) -> Requests {
    let project = served.ready.project_id.clone();
    posts(served, "/v1/payment-links", move |index| {
        format!(
            r#"{{"project_id":"{project}","title":"Paket kopi Gayo 1 kg & gilingan tangan","amount":{},"description":"{}"}}"#,
            285_000 + index,
            "Biji arabika sangrai sedang, digiling setelah pesanan dibayar. Dikirim dari Takengon dalam dua hari kerja; \
             ongkos kirim sudah termasuk. Tulis nomor pesanan bila menghubungi kami."
        )
    })
}
