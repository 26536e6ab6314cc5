import { Buffer } from "node:buffer";
import { createHmac, timingSafeEqual } from "node:crypto";

import { LunasError } from "./error.js";

/**
 * The event in a webhook's body, if the project's secret signed it in the last minutes; otherwise a `LunasError` whose code
 * says why not. `body` is what the request carried, before any JSON parser has seen it.
 */
export function verifyWebhook(body, header, secret, { toleranceSeconds = 300 } = {}) {
  if (typeof body !== "string" && !(body instanceof Uint8Array)) {
    throw new TypeError("body is not the raw bytes or text of the request");
  }
  if (!secret) throw new TypeError("secret is empty");
  if (!header) throw new LunasError("WEBHOOK_HEADER_MISSING", "the request has no signature");
  const parts = header.split(",").map((part) => part.trim().split("="));
  const time = parts.find(([name]) => name === "t")?.[1] ?? "";
  const given = parts.filter(([name]) => name === "v1").map(([, value = ""]) => Buffer.from(value));
  if (!/^[0-9]{1,12}$/.test(time) || given.length === 0) {
    throw new LunasError("WEBHOOK_HEADER_MALFORMED", "the header is not `t=<seconds>,v1=<signature>`");
  }
  const expected = Buffer.from(createHmac("sha256", secret).update(`${time}.`).update(body).digest("hex"));
  // While a secret is replaced there are two signatures, and either will do.
  if (!given.some((value) => value.length === expected.length && timingSafeEqual(value, expected))) {
    throw new LunasError("WEBHOOK_SIGNATURE_MISMATCH", "signed with another secret, or not the bytes that were sent");
  }
  const ageSeconds = Math.floor(Date.now() / 1000) - Number(time);
  if (ageSeconds > toleranceSeconds) throw new LunasError("WEBHOOK_TOO_OLD", `signed ${ageSeconds} seconds ago`);
  if (-ageSeconds > toleranceSeconds) {
    throw new LunasError("WEBHOOK_FROM_THE_FUTURE", `signed ${-ageSeconds} seconds ahead of this clock`);
  }
  try {
    return JSON.parse(typeof body === "string" ? body : new TextDecoder().decode(body));
  } catch {
    throw new LunasError("WEBHOOK_NOT_JSON", "the signature is valid, but the body is not JSON");
  }
}
