/**
 * Runs the code in the README and in docs/clients.md as it is written, against a running sandbox.
 *
 * LUNAS_URL, LUNAS_API_KEY, LUNAS_PROJECT_ID, LUNAS_WEBHOOK_SECRET: the server and its project.
 */

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";

const AsyncFunction = (async () => {}).constructor;
const event = { id: "evt_1", type: "payment.paid", data: { reference: "ORDER-1" } };
const rawBody = Buffer.from(JSON.stringify(event));
const time = Math.floor(Date.now() / 1000);
const signature = createHmac("sha256", process.env.LUNAS_WEBHOOK_SECRET).update(`${time}.`).update(rawBody).digest("hex");
const request = { headers: { "x-service-signature": `t=${time},v1=${signature}` } };

/** Runs a document's blocks as one program, and hands back what it `names`. */
function run(document, names) {
  const text = readFileSync(new URL(document, import.meta.url), "utf8");
  const blocks = [...text.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code);
  assert(blocks.length > 0, `${document} has code`);
  // A function cannot contain an import statement.
  const code = blocks.join("\n").replaceAll(/import (\{.*?\}) from "lunas-client";/g, "var $1 = await load();");
  const program = new AsyncFunction("load", "request", "rawBody", `${code}\nreturn { ${names} };`);
  return program(() => import("lunas-client"), request, rawBody);
}

const readme = await run("../README.md", "link, event");
assert.match(readme.link.url, /^http/);
assert.deepEqual(readme.event, event);
const { paymentPage, paidOrder } = await run("../../../docs/clients.md", "paymentPage, paidOrder");
assert.equal(await paymentPage("ORDER-1"), await paymentPage("ORDER-1"));
assert.equal(paidOrder(rawBody, request.headers["x-service-signature"]), "ORDER-1");
console.log("the documents' code runs");
