/** One request to the API, and its retries. Nothing here may put the API key into an error. */

import { randomUUID } from "node:crypto";

import { LunasError } from "./error.js";

const USER_AGENT = "lunas-client-typescript/0.2.0";
/** The only statuses that the API calls worth a retry. */
const RETRIED_STATUSES = new Set([429, 500, 503]);
const FIRST_BACKOFF_SECONDS = 0.5;
const BACKOFF_SECONDS_MOST = 8;
const VISIBLE_ASCII = /^[!-~]{1,255}$/;

export class Transport {
  #apiKey;
  #baseUrl;
  #options;

  constructor({ apiKey, baseUrl, language = "id", timeoutSeconds = 30, maxRetries = 4, maxRetrySeconds = 60, fetch }) {
    if (!/^sk_(test|live)_[0-9A-Za-z]+$/.test(apiKey ?? "")) {
      throw new TypeError("apiKey is not an API key: it begins with sk_test_ or sk_live_");
    }
    const url = new URL(baseUrl);
    if (!/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
      throw new TypeError("baseUrl is not a plain http or https address");
    }
    this.#apiKey = apiKey;
    this.#baseUrl = url.href.replace(/\/$/, "");
    this.#options = { language, timeoutSeconds, maxRetries, maxRetrySeconds, fetch: fetch ?? globalThis.fetch };
  }

  async send(method, path, { query = {}, body, idempotencyKey } = {}) {
    if (idempotencyKey !== undefined && !VISIBLE_ASCII.test(idempotencyKey)) {
      throw new TypeError("idempotencyKey is not 1 to 255 visible ASCII characters");
    }
    const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
    const search = given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
    // All attempts carry the same keys, so that the server knows them for one request.
    const request = {
      method,
      url: `${this.#baseUrl}${path}${search}`,
      requestId: randomUUID(),
      idempotencyKey,
      body: body === undefined ? undefined : JSON.stringify(body),
    };
    return this.#retry(request);
  }

  async #retry(request) {
    const { maxRetries, maxRetrySeconds } = this.#options;
    const lastStart = Date.now() + maxRetrySeconds * 1000;
    // Without an answer nobody knows whether the request acted. A POST without an idempotency key might act twice.
    const repeatable = request.method !== "POST" || request.idempotencyKey !== undefined;
    for (let retry = 0; ; retry++) {
      try {
        return await this.#attempt(request);
      } catch (error) {
        const unanswered = error.status === null && repeatable;
        const waitMs = 1000 * backoffSeconds(retry, error.retryAfter);
        const retried = RETRIED_STATUSES.has(error.status) || unanswered;
        if (!retried || retry >= maxRetries || Date.now() + waitMs > lastStart) throw error;
        await new Promise((resolve) => setTimeout(resolve, waitMs));
      }
    }
  }

  async #attempt({ method, url, requestId, idempotencyKey, body }) {
    const headers = {
      Authorization: `Bearer ${this.#apiKey}`,
      Accept: "application/json",
      "Accept-Language": this.#options.language,
      "User-Agent": USER_AGENT,
      "X-Request-Id": requestId,
    };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    if (idempotencyKey !== undefined) headers["Idempotency-Key"] = idempotencyKey;
    // A redirect is not followed: the key is for this server alone.
    const signal = AbortSignal.timeout(this.#options.timeoutSeconds * 1000);
    let answer, text;
    try {
      answer = await this.#options.fetch(url, { method, headers, body, signal, redirect: "manual" });
      text = await answer.text();
    } catch (error) {
      throw signal.aborted
        ? new LunasError("TIMEOUT", `no answer within ${this.#options.timeoutSeconds} seconds`, { requestId })
        : new LunasError("CONNECTION_LOST", `no answer: ${error.cause?.code ?? error.cause?.message ?? error.message}`, { requestId });
    }
    return read(answer, text, requestId);
  }
}

function read(answer, text, requestId) {
  let json;
  try {
    json = JSON.parse(text);
  } catch {
    json = undefined;
  }
  if (answer.ok && json !== undefined) return json;
  const retryAfter = answer.headers.get("Retry-After") ?? "";
  const details = {
    status: answer.status,
    requestId: answer.headers.get("X-Request-Id") ?? requestId,
    retryAfter: /^[0-9]{1,9}$/.test(retryAfter) ? Number(retryAfter) : null,
  };
  const { code, message } = json?.error ?? {};
  if (typeof code === "string") throw new LunasError(code, String(message), details);
  throw new LunasError("UNEXPECTED_ANSWER", `status ${answer.status}, but not an answer of Lunas`, details);
}

/** Full jitter: callers that failed together do not come back together. Never sooner than the server asks for. */
function backoffSeconds(retry, retryAfter) {
  const longest = Math.min(BACKOFF_SECONDS_MOST, FIRST_BACKOFF_SECONDS * 2 ** retry);
  return (retryAfter ?? 0) + Math.random() * longest;
}
