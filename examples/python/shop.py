"""A shop in one file: a cart, a payment link, the webhook, and the order that it pays. Orders live in memory."""

import os
import pathlib
import re
import secrets
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "clients/python"))

from lunas import Lunas, LunasError, verify_webhook  # noqa: E402

PORT = int(os.environ.get("PORT", "3000"))
SHOP_URL = os.environ.get("SHOP_URL", f"http://127.0.0.1:{PORT}")
CART = [("Kopi susu gula aren", 2, 25000), ("Roti bakar", 1, 18000)]
TOTAL = sum(pieces * price for _, pieces, price in CART)
BODY_BYTES_MOST = 65_536
PAGE = """<!doctype html><html lang="id"><head><meta charset="utf-8"><title>{title}</title><link rel="icon" href="data:,">{head}
<meta name="viewport" content="width=device-width">
<style>body{{font:18px/1.5 sans-serif;max-width:28rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}}
button,a{{display:inline-block;font:inherit;padding:.6rem 1.2rem;border:0;border-radius:.4rem;color:#fff;
background:#065f46;min-height:44px;box-sizing:border-box}}td:last-child{{text-align:right}}table{{width:100%;margin-bottom:1rem}}</style></head>
<body><main><h1>{title}</h1>{main}</main></body></html>"""

lunas = Lunas(
    os.environ.get("LUNAS_URL", "http://127.0.0.1:8080"),
    os.environ["LUNAS_API_KEY"],
    project_id=os.environ["LUNAS_PROJECT_ID"],
)
orders = {}
seen_events = set()
lock = threading.Lock()


def rupiah(amount):
    return f"Rp{amount:,}".replace(",", ".")


def page(title, main="", head=""):
    return PAGE.format(title=title, main=main, head=head)


def cart_page():
    rows = [f"<tr><td>{pieces} × {name}</td><td>{rupiah(pieces * price)}</td></tr>" for name, pieces, price in CART]
    # The order's id is in the form, so that a second press of the button is the same order.
    order_id = f"ORDER-{secrets.token_hex(8)}"
    return page(
        "Keranjang",
        f"""<table>{"".join(rows)}<tr><td>Jumlah</td><td>{rupiah(TOTAL)}</td></tr></table>
<form method="post" action="/orders"><input type="hidden" name="order" value="{order_id}"><button>Bayar</button></form>""",
    )


def order_page(order_id):
    """What the address says about the payment is not believed: only the webhook makes an order paid."""
    order = orders.get(order_id)
    if order is None:
        return 404, page("Pesanan tidak ditemukan")
    text = f"Pesanan {order_id}, {rupiah(order['amount'])}"
    if order["paid"]:
        return 200, page("Lunas", f"<p>Terima kasih. {text}, sedang disiapkan.</p>")
    waiting = f'<p>{text}.</p><a href="{order["url"]}">Bayar sekarang</a>'
    return 200, page("Menunggu pembayaran", waiting, '<meta http-equiv="refresh" content="2">')


class Shop(BaseHTTPRequestHandler):
    def do_GET(self):
        path = urlsplit(self.path).path
        if path == "/":
            self.answer(200, cart_page())
        elif path.startswith("/orders/"):
            self.answer(*order_page(path[len("/orders/") :]))
        else:
            self.answer(404, page("Tidak ditemukan"))

    def do_POST(self):
        length = int(self.headers.get("Content-Length", "0"))
        if not 0 <= length <= BODY_BYTES_MOST:
            self.answer(413, page("Terlalu besar"))
            return
        body = self.rfile.read(length)
        if self.path == "/orders":
            self.open_order(body)
        elif self.path == "/hooks":
            self.receive_webhook(body)
        else:
            self.answer(404, page("Tidak ditemukan"))

    def open_order(self, form):
        """Opens the order and leads the customer to its payment page."""
        order_id = parse_qs(form.decode("ascii", "replace")).get("order", [""])[0]
        if not re.fullmatch("ORDER-[0-9a-f]{16}", order_id):
            self.answer(400, page("Pesanan tidak dikenal"))
            return
        try:
            link = lunas.links.create(
                title=f"Pesanan {order_id}",
                amount=TOTAL,
                reference=order_id,
                return_url=f"{SHOP_URL}/orders/{order_id}",
                idempotency_key=order_id,
            )
        except LunasError as error:
            self.log_error("%s (%s)", error, error.request_id)
            self.answer(502, page("Coba lagi sebentar lagi"))
            return
        orders.setdefault(order_id, {"amount": TOTAL, "url": link["url"], "paid": False})
        self.answer(303, "", link["url"])

    def receive_webhook(self, body):
        try:
            event = verify_webhook(body, self.headers.get("X-Service-Signature"), os.environ["LUNAS_WEBHOOK_SECRET"])
        except LunasError as error:
            self.log_error("a webhook was refused: %s", error.code)
            self.answer(400, "")
            return
        with lock:
            if event["id"] not in seen_events and event["type"] == "payment.paid":
                order = orders.get(event["data"]["reference"])
                if order is not None and order["amount"] == event["data"]["amount"]:
                    order["paid"] = True
            seen_events.add(event["id"])
        self.answer(204, "")

    def answer(self, status, html, location=None):
        content = html.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        if status != 204:
            self.send_header("Content-Length", str(len(content)))
        if location is not None:
            self.send_header("Location", location)
        self.end_headers()
        self.wfile.write(content)


print(f"the shop is open at {SHOP_URL}", flush=True)
ThreadingHTTPServer(("127.0.0.1", PORT), Shop).serve_forever()
