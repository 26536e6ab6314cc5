/** A shop in one file: a cart, a payment link, the webhook, and the order that it pays. Orders live in memory. */

import { randomBytes } from "node:crypto";
import { createServer } from "node:http";

import { Lunas, LunasError, verifyWebhook } from "../../clients/typescript/src/index.js";

const PORT = Number(process.env.PORT ?? 3000);
const SHOP_URL = process.env.SHOP_URL ?? `http://127.0.0.1:${PORT}`;
const CART = [
  { name: "Kopi susu gula aren", pieces: 2, price: 25000 },
  { name: "Roti bakar", pieces: 1, price: 18000 },
];
const TOTAL = CART.reduce((sum, { pieces, price }) => sum + pieces * price, 0);
const BODY_BYTES_MOST = 65536;

const lunas = new Lunas({
  baseUrl: process.env.LUNAS_URL ?? "http://127.0.0.1:8080",
  apiKey: process.env.LUNAS_API_KEY,
  projectId: process.env.LUNAS_PROJECT_ID,
});
const orders = new Map();
const seenEvents = new Set();

const rupiah = (amount) => `Rp${amount.toLocaleString("id-ID")}`;

function page(title, main, head = "") {
  return `<!doctype html><html lang="id"><head><meta charset="utf-8"><title>${title}</title><link rel="icon" href="data:,">${head}
<meta name="viewport" content="width=device-width">
<style>body{font:18px/1.5 sans-serif;max-width:28rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}
button,a{display:inline-block;font:inherit;padding:.6rem 1.2rem;border:0;border-radius:.4rem;color:#fff;
background:#065f46;min-height:44px;box-sizing:border-box}td:last-child{text-align:right}table{width:100%;margin-bottom:1rem}</style></head>
<body><main><h1>${title}</h1>${main}</main></body></html>`;
}

function cartPage() {
  const rows = CART.map(({ name, pieces, price }) => `<tr><td>${pieces} × ${name}</td><td>${rupiah(pieces * price)}</td></tr>`);
  // The order's id is in the form, so that a second press of the button is the same order.
  const id = `ORDER-${randomBytes(8).toString("hex")}`;
  return page("Keranjang", `<table>${rows.join("")}<tr><td>Jumlah</td><td>${rupiah(TOTAL)}</td></tr></table>
<form method="post" action="/orders"><input type="hidden" name="order" value="${id}"><button>Bayar</button></form>`);
}

/** Opens the order and leads the customer to its payment page. */
async function order(form) {
  const id = new URLSearchParams(form).get("order") ?? "";
  if (!/^ORDER-[0-9a-f]{16}$/.test(id)) return { status: 400, html: page("Pesanan tidak dikenal", "") };
  const link = await lunas.links.create(
    { title: `Pesanan ${id}`, amount: TOTAL, reference: id, return_url: `${SHOP_URL}/orders/${id}` },
    { idempotencyKey: id },
  );
  if (!orders.has(id)) orders.set(id, { amount: TOTAL, url: link.url, paid: false });
  return { status: 303, location: link.url };
}

/** What the address says about the payment is not believed: only the webhook makes an order paid. */
function orderPage(id) {
  const found = orders.get(id);
  if (!found) return { status: 404, html: page("Pesanan tidak ditemukan", "") };
  if (found.paid) return { html: page("Lunas", `<p>Terima kasih. Pesanan ${id}, ${rupiah(found.amount)}, sedang disiapkan.</p>`) };
  const waiting = `<p>Pesanan ${id}, ${rupiah(found.amount)}.</p><a href="${found.url}">Bayar sekarang</a>`;
  return { html: page("Menunggu pembayaran", waiting, '<meta http-equiv="refresh" content="2">') };
}

function webhook(body, header) {
  let event;
  try {
    event = verifyWebhook(body, header, process.env.LUNAS_WEBHOOK_SECRET);
  } catch (error) {
    if (!(error instanceof LunasError)) throw error;
    console.error(`a webhook was refused: ${error.code}`);
    return { status: 400 };
  }
  if (!seenEvents.has(event.id) && event.type === "payment.paid") {
    const paid = orders.get(event.data.reference);
    if (paid?.amount === event.data.amount) {
      paid.paid = true;
      console.log(`${event.data.reference} is paid`);
    }
  }
  seenEvents.add(event.id);
  return { status: 204 };
}

async function bodyOf(request) {
  const pieces = [];
  let bytes = 0;
  for await (const piece of request) {
    bytes += piece.length;
    if (bytes > BODY_BYTES_MOST) throw new Error("the body is too large");
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

async function answer(request) {
  const { pathname } = new URL(request.url, SHOP_URL);
  const route = `${request.method} ${pathname}`;
  if (route === "GET /") return { html: cartPage() };
  if (route === "POST /orders") return order((await bodyOf(request)).toString());
  if (route.startsWith("GET /orders/")) return orderPage(pathname.slice("/orders/".length));
  if (route === "POST /hooks") return webhook(await bodyOf(request), request.headers["x-service-signature"]);
  return { status: 404, html: page("Tidak ditemukan", "") };
}

createServer(async (request, response) => {
  try {
    const { status = 200, html = "", location } = await answer(request);
    const headers = { "Content-Type": "text/html; charset=utf-8", ...(location && { Location: location }) };
    response.writeHead(status, headers).end(html);
  } catch (error) {
    console.error(error instanceof LunasError ? `${error.code}: ${error.message} (${error.requestId})` : error);
    response.writeHead(502, { "Content-Type": "text/html; charset=utf-8" }).end(page("Coba lagi sebentar lagi", ""));
  }
}).listen(PORT, "127.0.0.1", () => console.log(`the shop is open at ${SHOP_URL}`));
