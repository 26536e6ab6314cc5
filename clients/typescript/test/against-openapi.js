/**
 * Holds the client against the OpenAPI document of a running server, LUNAS_URL: methods, parameters, members, which of them may
 * be missing, and the words that they may have.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import { Lunas } from "../src/index.js";

/** Operations with a key, the method that calls each, and the types of what is sent. */
const METHODS = {
  createPayment: ["payments.create", "CreatePayment"],
  listPayments: ["payments.list", "PaymentFilters", "Page"],
  getPayment: ["payments.get"],
  createRefund: ["refunds.create", "CreateRefund"],
  listRefunds: ["refunds.list", "RefundFilters", "Page"],
  getRefund: ["refunds.get"],
  cancelRefund: ["refunds.cancel"],
  listBanks: ["banks.list", "Page"],
  createPaymentLink: ["links.create", "CreateLink"],
  listPaymentLinks: ["links.list", "LinkFilters", "Page"],
  getPaymentLink: ["links.get"],
  cancelPaymentLink: ["links.cancel"],
  getBalance: ["balance.get", "{ at"],
  listReceipts: ["receipts.list", "ReceiptFilters", "Page"],
  getReceipt: ["receipts.get"],
  acceptReceipt: ["receipts.accept", "AcceptReceipt"],
  returnReceipt: ["receipts.return", "ReturnReceipt"],
  listEvents: ["events.list", "EventFilters", "Page"],
  getEvent: ["events.get"],
  revokeApiKey: ["keys.revoke"],
  simulatePayment: ["sandbox.simulate", "Simulate"],
  simulateRefund: ["sandbox.simulateRefund", "SimulateRefund"],
};
/** For people who are signed in; a key gets 403. */
const SESSION_ONLY = ["listApiKeys", "createApiKey", "getProject", "listAuditLines"];
/** What the document calls by one name and the types by several. */
const SPLIT = { Event: ["PaymentEvent"], Instructions: ["QrisInstructions", "VirtualAccountInstructions"] };

const types = readFileSync(new URL("../src/index.d.ts", import.meta.url), "utf8");
const openapi = await (await fetch(new URL("/openapi.json", process.env.LUNAS_URL))).json();
const { schemas } = openapi.components;

function membersOf(type, mark = "\\??") {
  if (type === "{ at") return ["at"];
  const body = types.match(new RegExp(`interface ${type}(?:<T>)? \\{\\n(.*?)\\n\\}`, "s"))?.[1];
  assert(body !== undefined, `the types have ${type}`);
  return [...body.matchAll(new RegExp(`^ {2}(\\w+)${mark}:`, "gm"))].map(([, name]) => name);
}

/** The names of objects that an answer can contain, each once. */
function reached(schema, found = new Set()) {
  const text = JSON.stringify(schema);
  for (const [, name] of text.matchAll(/#\/components\/schemas\/(\w+)/g)) {
    if (!found.has(name)) reached(schemas[name], found.add(name));
  }
  return found;
}

const has = (type, names, what) => {
  const known = type.flatMap((one) => membersOf(one));
  for (const name of names) assert(known.includes(name), `${what}: ${type} has ${name}`);
};

/** Adds the words of every `enum` in a schema. */
function words(schema, found) {
  for (const [, list] of JSON.stringify(schema).matchAll(/"enum":(\[.*?\])/g)) {
    for (const word of JSON.parse(list)) found.add(word);
  }
}

const lunas = new Lunas({ baseUrl: "http://localhost", apiKey: ["sk", "test", "a"].join("_") });
const operations = Object.entries(openapi.paths).filter(([path]) => path.startsWith("/v1/"))
  .flatMap(([, methods]) => Object.values(methods)).filter(({ operationId }) => !SESSION_ONLY.includes(operationId));
assert.deepEqual(operations.map(({ operationId }) => operationId).sort(), Object.keys(METHODS).sort());
const answers = new Set();
const allowed = new Set();
for (const { operationId, parameters = [], requestBody, responses } of operations) {
  const [method, ...sent] = METHODS[operationId];
  const [resource, name] = method.split(".");
  assert.equal(typeof lunas[resource][name], "function", method);
  assert.match(types, new RegExp(`readonly ${resource}: \\{[^}]*\\b${name}\\(`), `the types have ${method}`);
  // A key names its project already.
  const query = parameters.filter((one) => one.in === "query" && one.name !== "project_id").map((one) => one.name);
  has(sent, query, operationId);
  words(parameters, allowed);
  if (requestBody) {
    const { schema } = requestBody.content["application/json"];
    has(sent, Object.keys(schemas[schema.$ref.split("/").pop()].properties), operationId);
    for (const name of reached(schema)) words(schemas[name], allowed);
  }
  for (const [status, answer] of Object.entries(responses)) {
    if (status.startsWith("2")) reached(answer.content["application/json"].schema, answers);
  }
}
for (const name of answers) {
  const shapes = [schemas[name], ...(schemas[name].oneOf ?? [])];
  const members = shapes.flatMap(({ properties = {} }) => Object.keys(properties));
  const type = SPLIT[name] ?? [name.replace(/_.*/, "")];
  if (name === "PaymentMethod") for (const member of members) assert.match(types, new RegExp(`type PaymentMethod = .*\\b${member}: `));
  else if (members.length > 0) has(type, members, name);
  const required = shapes.flatMap((shape) => shape.required ?? []);
  const optional = type.flatMap((one) => types.includes(`interface ${one}`) ? membersOf(one, "\\?") : []).sort();
  assert.deepEqual(optional, members.filter((member) => !required.includes(member)).sort(), `${name}: what may be missing`);
  words(schemas[name], allowed);
}
for (const word of allowed) assert(types.includes(`"${word}"`), `the types have "${word}"`);
console.log(`${operations.length} operations and ${answers.size} schemas are in the client`);
