"""Calls every endpoint of a running sandbox and receives its webhook.

LUNAS_URL, LUNAS_API_KEY, LUNAS_PROJECT_ID, LUNAS_WEBHOOK_SECRET: the server and its project.
LUNAS_WEBHOOK_PORT: the port of this machine to which the project's webhooks go.
LUNAS_SPARE_KEY_ID: a key of the project, to be revoked.
"""

import os
import pathlib
import queue
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from lunas import Lunas, LunasError, verify_webhook  # noqa: E402

RETURN_URL = "https://shop.example/orders/1"
WEBHOOK_PATIENCE_SECONDS = 60
lunas = Lunas(
    os.environ["LUNAS_URL"], os.environ["LUNAS_API_KEY"], project_id=os.environ["LUNAS_PROJECT_ID"], language="en"
)
reference = f"python-{time.time_ns()}"
order = {"reference": reference, "amount": 20000, "payment_method": {"type": "qris"}, "metadata": {"cashier": "Kasir 1"}}


def equal(left, right):
    assert left == right, f"{left!r} is not {right!r}"


def fails(status, code, call, *arguments, **named):
    try:
        call(*arguments, **named)
    except LunasError as error:
        equal((error.status, error.code), (status, code))
        assert error.request_id
    else:
        raise AssertionError(f"{code} did not come")


def ids(items):
    return [item["id"] for item in items]


def payments():
    payment = lunas.payments.create(**order, idempotency_key=reference)
    equal(payment["metadata"], order["metadata"])
    assert payment["instructions"]["qr_string"]
    equal(lunas.payments.create(**order, idempotency_key=reference)["id"], payment["id"])
    other_body = {**order, "amount": 1000}
    fails(409, "IDEMPOTENCY_CONFLICT", lunas.payments.create, **other_body, idempotency_key=reference)
    fails(400, "VALIDATION_ERROR", lunas.payments.create, **{**order, "amount": 1})
    fails(404, "RESOURCE_NOT_FOUND", lunas.payments.get, "pay_unknown")
    equal(lunas.payments.get(payment["id"]), payment)
    filters = {"q": reference, "status": "pending", "method": "qris", "created_from": payment["created_at"]}
    equal(ids(lunas.payments.list(**filters, page=1, page_size=1)["data"]), [payment["id"]])
    equal(ids(lunas.payments.all(search=reference)), [payment["id"]])
    equal(lunas.payments.list(search=reference, created_to=payment["created_at"])["data"], [])
    bank = lunas.payments.create(**{**order, "payment_method": {"type": "virtual_account", "bank": "bca"}})
    assert any("open" in step.lower() for step in bank["instructions"]["payment_steps"]), "in English"
    return payment


def links():
    link = lunas.links.create(title="Kopi susu", amount=25000, reference=reference, customer_fields={"name": True})
    equal(link["customer_fields"]["name"], True)
    equal(lunas.links.get(link["id"]), link)
    equal(ids(lunas.links.list(search=reference)["data"]), [link["id"]])
    equal(ids(lunas.links.all(created_from=link["created_at"], search=reference)), [link["id"]])
    equal(lunas.links.cancel(link["id"])["status"], "cancelled")
    fails(409, "PAYMENT_LINK_NOT_ACTIVE", lunas.links.cancel, link["id"])


def money(payment):
    equal(lunas.sandbox.simulate(payment["id"], outcome="paid")["status"], "paid")
    for amount in (19000, 21000):
        lunas.sandbox.simulate(payment["id"], outcome="paid", amount=amount)
    more, less = lunas.receipts.list(payment_id=payment["id"], state="held")["data"]
    equal(less["reason"], "wrong_amount")
    equal(lunas.receipts.get(less["id"]), less)
    back = lunas.receipts.return_(more["id"], note="sent back")
    equal((back["state"], back["decision"]["note"]), ("returned", "sent back"))
    other = lunas.payments.create(**order)["id"]
    fails(400, "VALIDATION_ERROR", lunas.receipts.accept, less["id"], note="too little", payment_id=other)
    accepted = lunas.receipts.accept(less["id"], note="fine", payment_id=other, accept_difference=True)
    equal(accepted["decision"]["difference"], -1000)
    equal(len(list(lunas.receipts.all(payment_id=payment["id"]))), 2)
    equal(len(list(lunas.receipts.all(payment_id=payment["id"], created_from=less["received_at"]))), 2)
    equal(lunas.receipts.list(payment_id=payment["id"], created_to=less["received_at"])["data"], [])
    balance = lunas.balance.get()
    assert balance["pending"] + balance["available"] > 0
    equal(lunas.balance.get(at=payment["created_at"])["as_of"], payment["created_at"])


def refunds(payment):
    key, refunding = f"{reference}-back", lunas.balance.get()["refunding"]
    part = lunas.refunds.create(payment["id"], amount=5000, reason="damaged", idempotency_key=key)
    equal((part["payment_id"], part["amount"], part["road"], part["reason"]), (payment["id"], 5000, "qris", "damaged"))
    again = lunas.refunds.create(payment["id"], amount=5000, reason="damaged", idempotency_key=key)
    equal(again["id"], part["id"])
    fails(409, "IDEMPOTENCY_CONFLICT", lunas.refunds.create, payment["id"], idempotency_key=key)
    fails(409, "CONFLICT", lunas.refunds.create, payment["id"], amount=payment["amount"])
    equal(lunas.sandbox.simulate_refund(part["id"], outcome="succeeded")["status"], "succeeded")
    equal(lunas.payments.get(payment["id"])["refunded_amount"], 5000)
    fails(409, "CONFLICT", lunas.refunds.cancel, part["id"])
    [bank] = lunas.banks.list(page_size=1)["data"]
    destination = {"bank": bank["code"], "account_number": "0123456789", "account_name": "Siti"}
    transfer = lunas.refunds.create(payment["id"], amount=1903, destination=destination, metadata={"ticket": "7"})
    equal((transfer["road"], transfer["destination"]["last_four"]), ("transfer", "6789"))
    equal(transfer["metadata"], {"ticket": "7"})
    equal(lunas.refunds.cancel(transfer["id"])["status"], "cancelled")
    equal(ids(lunas.refunds.list(payment_id=payment["id"], status="succeeded")["data"]), [part["id"]])
    equal(ids(lunas.refunds.all(payment_id=payment["id"])), [transfer["id"], part["id"]])
    equal(lunas.refunds.get(part["id"])["status"], "succeeded")
    fails(404, "RESOURCE_NOT_FOUND", lunas.refunds.get, "rfd_unknown")
    equal(lunas.balance.get()["refunding"], refunding)


def events(payment):
    [newest] = lunas.events.list(type="payment.paid", page_size=1)["data"]
    equal(lunas.events.get(newest["id"]), newest)
    [paid] = [event for event in lunas.events.all(type="payment.paid") if event["data"]["id"] == payment["id"]]
    assert newest["id"] in ids(lunas.events.all(after=paid["id"]))
    assert paid["id"] in ids(lunas.events.all(created_from=paid["created_at"]))
    assert paid["id"] not in ids(lunas.events.list(created_to=paid["created_at"], page_size=100)["data"])


def keys():
    spare = os.environ["LUNAS_SPARE_KEY_ID"]
    equal(lunas.keys.revoke(spare)["id"], spare)
    fails(404, "RESOURCE_NOT_FOUND", lunas.keys.revoke, "key_unknown")


def prices_and_the_way_back():
    equal(lunas.payments.create(**order, return_url=RETURN_URL)["return_url"], RETURN_URL)
    pieces = lunas.links.create(title="Tiket", amount=25000, quantity_max=10, return_url=RETURN_URL)
    equal((pieces["quantity_max"], pieces["return_url"]), (10, RETURN_URL))
    open_amount = lunas.links.create(title="Donasi", amount_min=10000, amount_max=500000)
    equal((open_amount["amount"], open_amount["amount_min"], open_amount["amount_max"]), (0, 10000, 500000))


class Receiver(BaseHTTPRequestHandler):
    received = queue.Queue()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        header = self.headers["X-Service-Signature"]
        try:
            self.received.put(verify_webhook(body, header, os.environ["LUNAS_WEBHOOK_SECRET"]))
        except LunasError as error:
            self.received.put(error)
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def webhook_of(payment):
    while True:
        event = Receiver.received.get(timeout=WEBHOOK_PATIENCE_SECONDS)
        if isinstance(event, LunasError):
            raise event
        if event["data"]["id"] == payment["id"]:
            return event


receiver = ThreadingHTTPServer(("127.0.0.1", int(os.environ["LUNAS_WEBHOOK_PORT"])), Receiver)
threading.Thread(target=receiver.serve_forever, args=(0.01,), daemon=True).start()
payment = payments()
links()
money(payment)
equal(webhook_of(payment)["type"], "payment.paid")
receiver.shutdown()
refunds(payment)
events(payment)
keys()
prices_and_the_way_back()
print("every endpoint answered as expected")
