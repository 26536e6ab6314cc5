import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { inspect } from "node:util";

import { Lunas, LunasError, verifyWebhook } from "../src/index.js";
import { KEY, fakeServer } from "./fake-server.js";

const failure = (status, code = "INTERNAL_ERROR", headers = {}) => ({
  status,
  headers: { "X-Request-Id": "req_1", ...headers },
  body: { error: { code, message: "because" } },
});
const ok = (body = { id: "pay_1" }) => ({ body });
const ORDER = { reference: "ORDER-1", amount: 15000, payment_method: { type: "qris" } };

/** Runs `use` with a client whose server gives `answers`, and hands back the requests that came. */
async function against(answers, use, options = {}) {
  const server = await fakeServer(answers);
  try {
    await use(new Lunas({ baseUrl: server.url, apiKey: KEY, projectId: "prj_1", ...options }), server);
    return server.requests;
  } finally {
    server.stop();
  }
}

const fails = (promise, expected) =>
  assert.rejects(promise, (error) => {
    assert(error instanceof LunasError, String(error));
    for (const [member, value] of Object.entries(expected)) assert.equal(error[member], value, member);
    assert(!inspect(error, { depth: 9 }).includes(KEY), "no key in an error");
    return true;
  });

test("a create carries the key, the project, the language and an idempotency key of its own", async () => {
  const requests = await against([ok()], async (lunas) => {
    await lunas.payments.create(ORDER);
    await lunas.links.create({ title: "Kopi", amount: 15000, project_id: "prj_2" }, { idempotencyKey: "mine" });
  });
  assert.equal(requests[0].method + requests[0].url, "POST/v1/payments");
  assert.equal(requests[0].headers.authorization, `Bearer ${KEY}`);
  assert.equal(requests[0].headers["accept-language"], "id");
  assert.match(requests[0].headers["idempotency-key"], /^[0-9a-f-]{36}$/);
  assert.deepEqual(JSON.parse(requests[0].body), { project_id: "prj_1", ...ORDER });
  assert.equal(requests[1].headers["idempotency-key"], "mine");
  assert.equal(JSON.parse(requests[1].body).project_id, "prj_2");
});

test("429, 500, 503 and lost connections are retried, with the same idempotency key and request id", async () => {
  const answers = [failure(429), failure(500), failure(503), "lose", ok()];
  const requests = await against(answers, async (lunas) => {
    assert.deepEqual(await lunas.payments.create(ORDER), { id: "pay_1" });
  });
  assert.equal(requests.length, 5);
  for (const name of ["idempotency-key", "x-request-id"]) {
    assert.equal(new Set(requests.map(({ headers }) => headers[name])).size, 1, name);
  }
  assert.equal(new Set(requests.map(({ body }) => body)).size, 1);
});

test("no other status is retried, and the error says everything about it", async () => {
  for (const status of [400, 401, 403, 404, 409, 502, 504]) {
    const requests = await against([failure(status, "SOME_CODE")], (lunas) =>
      fails(lunas.payments.get("pay_1"), { status, code: "SOME_CODE", message: "because", requestId: "req_1", retryAfter: null }),
    );
    assert.equal(requests.length, 1);
  }
});

test("a retry waits as long as Retry-After asks for", async () => {
  const started = Date.now();
  await against([failure(503, "SERVICE_UNAVAILABLE", { "Retry-After": "1" }), ok()], (lunas) => lunas.balance.get());
  assert(Date.now() - started >= 1000);
});

test("retries end by number, by time, and before a Retry-After that lasts too long", async () => {
  const counted = await against([failure(500)], (lunas) => fails(lunas.balance.get(), { status: 500 }), { maxRetries: 2 });
  assert.equal(counted.length, 3);
  const timed = await against([failure(500)], (lunas) => fails(lunas.balance.get(), { status: 500 }), { maxRetrySeconds: 0 });
  assert.equal(timed.length, 1);
  const asked = await against([failure(429, "RATE_LIMITED", { "Retry-After": "3600" })], (lunas) =>
    fails(lunas.balance.get(), { status: 429, retryAfter: 3600 }),
  );
  assert.equal(asked.length, 1);
});

test("a POST without an idempotency key is not repeated after a lost connection, but is after 503", async () => {
  const lost = await against(["lose", ok()], async (lunas) => {
    await fails(lunas.receipts.accept("rcp_1", { note: "late" }), { code: "CONNECTION_LOST", status: null });
  });
  assert.equal(lost.length, 1);
  const refused = await against([failure(503), ok()], (lunas) => lunas.receipts.return("rcp_1", { note: "back" }));
  assert.equal(refused.length, 2);
  const revoked = await against(["lose", ok()], (lunas) => lunas.keys.revoke("key_1"));
  assert.equal(revoked.length, 2, "a DELETE may be repeated");
});

test("an attempt ends after its time, and the error has the request id that was sent", async () => {
  const options = { timeoutSeconds: 0.2, maxRetries: 1 };
  let requestId;
  const requests = await against(["hang"], async (lunas) => {
    await fails(lunas.balance.get().catch((error) => { requestId = error.requestId; throw error; }), { code: "TIMEOUT" });
  }, options);
  assert.equal(requests.length, 2);
  assert.equal(requests[0].headers["x-request-id"], requestId);
});

test("what is not an answer of Lunas is an error, and redirects are not followed", async () => {
  for (const answer of [
    { status: 502, body: "<h1>Bad gateway</h1>" },
    { status: 200, body: "<h1>Hello</h1>" },
    { status: 302, headers: { Location: "/v1/elsewhere" } },
  ]) {
    const requests = await against([answer], (lunas) =>
      fails(lunas.balance.get(), { code: "UNEXPECTED_ANSWER", status: answer.status }),
    );
    assert.equal(requests.length, 1);
  }
});

test("all() reads every page and gives nothing twice when the list moves", async () => {
  const page = (...ids) => ok({ data: ids.map((id) => ({ id })), pagination: { total_pages: 3 } });
  const requests = await against([page("e", "d"), page("d", "c"), page("b", "a")], async (lunas) => {
    const ids = [];
    for await (const { id } of lunas.payments.all({ q: "kopi susu", status: "paid", search: undefined })) ids.push(id);
    assert.deepEqual(ids, ["e", "d", "c", "b", "a"]);
  });
  assert.deepEqual(requests.map(({ url }) => url), [1, 2, 3].map((number) =>
    `/v1/payments?q=kopi+susu&status=paid&page=${number}&page_size=100`));
});

test("ids are escaped, and bad settings are refused without naming the key", async () => {
  const requests = await against([ok()], (lunas) => lunas.payments.get("../balance?x"));
  assert.equal(requests[0].url, "/v1/payments/..%2Fbalance%3Fx");
  for (const options of [{ apiKey: `${KEY}\n` }, { apiKey: "" }, { baseUrl: "https://user:secret@example.com" }, { baseUrl: "ftp://x" }]) {
    assert.throws(() => new Lunas({ apiKey: KEY, baseUrl: "https://example.com", ...options }), (error) =>
      error instanceof TypeError && !error.message.includes(KEY));
  }
  const lunas = new Lunas({ apiKey: KEY, baseUrl: "https://example.com" });
  assert(!inspect(lunas, { depth: 9, showHidden: true }).includes(KEY));
  await assert.rejects(lunas.payments.create(ORDER, { idempotencyKey: "two words" }), TypeError);
});

const SECRET = "whsec_lunas";
const BODY = Buffer.from('{"id":"evt_1","type":"payment.paid","data":{"name":"Toko Kopi ☕ 100%s\\n"}} \n');
const sign = (secret, time, body = BODY) => createHmac("sha256", secret).update(`${time}.`).update(body).digest("hex");

test("a webhook is accepted as bytes or text, with either signature of a rotation", () => {
  const now = Math.floor(Date.now() / 1000);
  const [mine, other] = [sign(SECRET, now), sign("whsec_new", now)];
  for (const header of [`t=${now},v1=${mine}`, `t=${now},v1=${other},v1=${mine}`, `t=${now}, v1=${mine}, v2=x`]) {
    assert.equal(verifyWebhook(BODY, header, SECRET).id, "evt_1");
    assert.equal(verifyWebhook(BODY.toString(), header, SECRET).data.name, "Toko Kopi ☕ 100%s\n");
  }
  const old = now - 1000;
  assert.equal(verifyWebhook(BODY, `t=${old},v1=${sign(SECRET, old)}`, SECRET, { toleranceSeconds: 2000 }).id, "evt_1");
});

test("a webhook that is not ours is refused, and the code says why", () => {
  const now = Math.floor(Date.now() / 1000);
  const at = (time, signature = sign(SECRET, time)) => `t=${time},v1=${signature}`;
  const refused = (code, header, body = BODY, secret = SECRET) =>
    assert.throws(() => verifyWebhook(body, header, secret), { name: "LunasError", code });
  for (const header of [undefined, null, ""]) refused("WEBHOOK_HEADER_MISSING", header);
  for (const header of ["x", `v1=${sign(SECRET, now)}`, `t=${now}`, at("soon"), at(-1), at("9".repeat(5000))]) {
    refused("WEBHOOK_HEADER_MALFORMED", header);
  }
  refused("WEBHOOK_SIGNATURE_MISMATCH", at(now), BODY, "whsec_other");
  refused("WEBHOOK_SIGNATURE_MISMATCH", at(now), BODY.subarray(1));
  for (const signature of ["", "0".repeat(64), sign(SECRET, now).slice(1), "é".repeat(32)]) {
    refused("WEBHOOK_SIGNATURE_MISMATCH", at(now, signature));
  }
  refused("WEBHOOK_SIGNATURE_MISMATCH", `t=${now + 1},${at(now)}`);
  refused("WEBHOOK_TOO_OLD", at(now - 302));
  refused("WEBHOOK_FROM_THE_FUTURE", at(now + 302));
  refused("WEBHOOK_NOT_JSON", at(now, sign(SECRET, now, "hello")), "hello");
  assert.throws(() => verifyWebhook({ id: "evt_1" }, at(now), SECRET), TypeError, "a parsed body");
});
