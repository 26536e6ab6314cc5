/**
 * Calls every endpoint of a running sandbox and receives its webhook.
 *
 * LUNAS_URL, LUNAS_API_KEY, LUNAS_PROJECT_ID, LUNAS_WEBHOOK_SECRET: the server and its project.
 * LUNAS_WEBHOOK_PORT: the port of this machine to which the project's webhooks go.
 * LUNAS_SPARE_KEY_ID: a key of the project, to be revoked.
 */

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";

import { Lunas, LunasError, verifyWebhook } from "../src/index.js";

const { LUNAS_URL, LUNAS_API_KEY, LUNAS_PROJECT_ID, LUNAS_WEBHOOK_SECRET, LUNAS_WEBHOOK_PORT, LUNAS_SPARE_KEY_ID } = process.env;
const WEBHOOK_PATIENCE_MS = 60_000;
const RETURN_URL = "https://shop.example/orders/1";
const lunas = new Lunas({ baseUrl: LUNAS_URL, apiKey: LUNAS_API_KEY, projectId: LUNAS_PROJECT_ID, language: "en" });
const reference = `typescript-${Date.now()}`;
const order = { reference, amount: 20000, payment_method: { type: "qris" }, metadata: { cashier: "Kasir 1" } };

const fails = (promise, status, code) =>
  assert.rejects(promise, (error) => {
    assert(error instanceof LunasError && error.requestId, String(error));
    assert.deepEqual([error.status, error.code], [status, code]);
    return true;
  });

async function collect(pages) {
  const found = [];
  for await (const one of pages) found.push(one);
  return found;
}

const ids = (items) => items.map(({ id }) => id);

async function payments() {
  const payment = await lunas.payments.create(order, { idempotencyKey: reference });
  assert.deepEqual(payment.metadata, order.metadata);
  assert(payment.instructions.qr_string);
  assert.equal((await lunas.payments.create(order, { idempotencyKey: reference })).id, payment.id);
  await fails(lunas.payments.create({ ...order, amount: 1000 }, { idempotencyKey: reference }), 409, "IDEMPOTENCY_CONFLICT");
  await fails(lunas.payments.create({ ...order, amount: 1 }), 400, "VALIDATION_ERROR");
  await fails(lunas.payments.get("pay_unknown"), 404, "RESOURCE_NOT_FOUND");
  assert.deepEqual(await lunas.payments.get(payment.id), payment);
  const filters = { q: reference, status: "pending", method: "qris", created_from: payment.created_at };
  assert.deepEqual(ids((await lunas.payments.list({ ...filters, page: 1, page_size: 1 })).data), [payment.id]);
  assert.deepEqual(ids(await collect(lunas.payments.all({ search: reference }))), [payment.id]);
  assert.deepEqual((await lunas.payments.list({ search: reference, created_to: payment.created_at })).data, []);
  const bank = await lunas.payments.create({ ...order, payment_method: { type: "virtual_account", bank: "bca" } });
  assert(bank.instructions.payment_steps.some((step) => /open/i.test(step)), "in English");
  return payment;
}

async function links() {
  const link = await lunas.links.create({ title: "Kopi susu", amount: 25000, reference, customer_fields: { name: true } });
  assert.equal(link.customer_fields.name, true);
  assert.deepEqual(await lunas.links.get(link.id), link);
  assert.deepEqual(ids((await lunas.links.list({ search: reference })).data), [link.id]);
  assert.deepEqual(ids(await collect(lunas.links.all({ created_from: link.created_at, search: reference }))), [link.id]);
  assert.equal((await lunas.links.cancel(link.id)).status, "cancelled");
  await fails(lunas.links.cancel(link.id), 409, "PAYMENT_LINK_NOT_ACTIVE");
}

async function money(payment) {
  assert.equal((await lunas.sandbox.simulate(payment.id, { outcome: "paid" })).status, "paid");
  for (const amount of [19000, 21000]) await lunas.sandbox.simulate(payment.id, { outcome: "paid", amount });
  const [more, less] = (await lunas.receipts.list({ payment_id: payment.id, state: "held" })).data;
  assert.equal(less.reason, "wrong_amount");
  assert.deepEqual(await lunas.receipts.get(less.id), less);
  const back = await lunas.receipts.return(more.id, { note: "sent back" });
  assert.deepEqual([back.state, back.decision.note], ["returned", "sent back"]);
  const other = await lunas.payments.create(order);
  await fails(lunas.receipts.accept(less.id, { note: "too little", payment_id: other.id }), 400, "VALIDATION_ERROR");
  const accepted = await lunas.receipts.accept(less.id, { note: "fine", payment_id: other.id, accept_difference: true });
  assert.equal(accepted.decision.difference, -1000);
  assert.equal((await collect(lunas.receipts.all({ payment_id: payment.id }))).length, 2);
  const since = { payment_id: payment.id, created_from: less.received_at };
  assert.equal((await collect(lunas.receipts.all(since))).length, 2);
  assert.deepEqual((await lunas.receipts.list({ payment_id: payment.id, created_to: less.received_at })).data, []);
  const balance = await lunas.balance.get();
  assert(balance.pending + balance.available > 0);
  assert.equal((await lunas.balance.get({ at: payment.created_at })).as_of, payment.created_at);
}

async function refunds(payment) {
  const { refunding } = await lunas.balance.get();
  const part = await lunas.refunds.create(payment.id, { amount: 5000, reason: "damaged" }, { idempotencyKey: `${reference}-back` });
  assert.deepEqual([part.payment_id, part.amount, part.road, part.reason], [payment.id, 5000, "qris", "damaged"]);
  const again = { amount: 5000, reason: "damaged" };
  assert.equal((await lunas.refunds.create(payment.id, again, { idempotencyKey: `${reference}-back` })).id, part.id);
  await fails(lunas.refunds.create(payment.id, {}, { idempotencyKey: `${reference}-back` }), 409, "IDEMPOTENCY_CONFLICT");
  await fails(lunas.refunds.create(payment.id, { amount: payment.amount }), 409, "CONFLICT");
  assert.equal((await lunas.sandbox.simulateRefund(part.id, { outcome: "succeeded" })).status, "succeeded");
  assert.equal((await lunas.payments.get(payment.id)).refunded_amount, 5000);
  await fails(lunas.refunds.cancel(part.id), 409, "CONFLICT");
  const [bank] = (await lunas.banks.list({ page_size: 1 })).data;
  const destination = { bank: bank.code, account_number: "0123456789", account_name: "Siti" };
  const transfer = await lunas.refunds.create(payment.id, { amount: 1903, destination, metadata: { ticket: "7" } });
  assert.deepEqual([transfer.road, transfer.destination.last_four, transfer.metadata.ticket], ["transfer", "6789", "7"]);
  assert.equal((await lunas.refunds.cancel(transfer.id)).status, "cancelled");
  assert.deepEqual(ids((await lunas.refunds.list({ payment_id: payment.id, status: "succeeded" })).data), [part.id]);
  assert.deepEqual(ids(await collect(lunas.refunds.all({ payment_id: payment.id }))), [transfer.id, part.id]);
  assert.equal((await lunas.refunds.get(part.id)).status, "succeeded");
  await fails(lunas.refunds.get("rfd_unknown"), 404, "RESOURCE_NOT_FOUND");
  assert.equal((await lunas.balance.get()).refunding, refunding);
}

async function events(payment) {
  const [newest] = (await lunas.events.list({ type: "payment.paid", page_size: 1 })).data;
  assert.deepEqual(await lunas.events.get(newest.id), newest);
  const paid = (await collect(lunas.events.all({ type: "payment.paid" }))).find(({ data }) => data.id === payment.id);
  assert((await collect(lunas.events.all({ after: paid.id }))).some(({ id }) => id === newest.id));
  assert(ids(await collect(lunas.events.all({ created_from: paid.created_at }))).includes(paid.id));
  const before = await lunas.events.list({ created_to: paid.created_at, page_size: 100 });
  assert(!ids(before.data).includes(paid.id));
}

async function keys() {
  assert.equal((await lunas.keys.revoke(LUNAS_SPARE_KEY_ID)).id, LUNAS_SPARE_KEY_ID);
  await fails(lunas.keys.revoke("key_unknown"), 404, "RESOURCE_NOT_FOUND");
}

async function pricesAndTheWayBack() {
  const payment = await lunas.payments.create({ ...order, return_url: RETURN_URL });
  assert.equal(payment.return_url, RETURN_URL);
  const pieces = await lunas.links.create({ title: "Tiket", amount: 25000, quantity_max: 10, return_url: RETURN_URL });
  assert.deepEqual([pieces.quantity_max, pieces.return_url], [10, RETURN_URL]);
  const open = await lunas.links.create({ title: "Donasi", amount_min: 10000, amount_max: 500000 });
  assert.deepEqual([open.amount, open.amount_min, open.amount_max], [0, 10000, 500000]);
}

/** Resolves when the webhook of the payment has come and its signature is valid. */
function webhookOf(server, payment) {
  return new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error("no webhook came")), WEBHOOK_PATIENCE_MS).unref();
    server.on("request", async (request, response) => {
      try {
        const pieces = await request.toArray();
        const event = verifyWebhook(Buffer.concat(pieces), request.headers["x-service-signature"], LUNAS_WEBHOOK_SECRET);
        response.end();
        if (event.data.id === payment.id) resolve(event);
      } catch (error) {
        reject(error);
      }
    });
  });
}

const server = createServer().listen(Number(LUNAS_WEBHOOK_PORT), "127.0.0.1");
await once(server, "listening");
const payment = await payments();
const webhook = webhookOf(server, payment);
await links();
await money(payment);
assert.equal((await webhook).type, "payment.paid");
server.close();
server.closeAllConnections();
await refunds(payment);
await events(payment);
await keys();
await pricesAndTheWayBack();
console.log("every endpoint answered as expected");
