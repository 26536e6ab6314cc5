/** The client: one method for each endpoint that an API key may use. Types and their documentation: index.d.ts. */

import { randomUUID } from "node:crypto";

import { Transport } from "./transport.js";

export { LunasError } from "./error.js";
export { verifyWebhook } from "./webhook.js";

const PAGE_SIZE_MOST = 100;
const at = (id) => encodeURIComponent(id);

export class Lunas {
  constructor({ projectId, ...options }) {
    const transport = new Transport(options);
    this.payments = new Payments(transport, projectId);
    this.refunds = new Refunds(transport);
    this.banks = new Banks(transport);
    this.links = new Links(transport, projectId);
    this.balance = new Balance(transport);
    this.receipts = new Receipts(transport);
    this.events = new Events(transport);
    this.keys = new Keys(transport);
    this.sandbox = new Sandbox(transport);
  }
}

/** What all resources share: sending, and for those with lists, reading them. */
class Resource {
  #transport;
  #projectId;

  constructor(transport, projectId) {
    this.#transport = transport;
    this.#projectId = projectId;
  }

  _send(method, path, parts) {
    return this.#transport.send(method, path, parts);
  }

  _create(path, body, { idempotencyKey = randomUUID() } = {}) {
    return this._send("POST", path, { body: { project_id: this.#projectId, ...body }, idempotencyKey });
  }
}

class Listed extends Resource {
  list(filters) {
    return this._send("GET", this._path, { query: filters });
  }

  get(id) {
    return this._send("GET", `${this._path}/${at(id)}`);
  }

  async *all(filters) {
    let previous = new Set();
    for (let page = 1, pages = 1; page <= pages; page++) {
      const { data, pagination } = await this.list({ ...filters, page, page_size: PAGE_SIZE_MOST });
      // What was created meanwhile has moved the end of the previous page into this one.
      yield* data.filter(({ id }) => !previous.has(id));
      previous = new Set(data.map(({ id }) => id));
      pages = pagination.total_pages;
    }
  }
}

class Payments extends Listed {
  _path = "/v1/payments";

  create(payment, options) {
    return this._create(this._path, payment, options);
  }
}

class Refunds extends Listed {
  _path = "/v1/refunds";

  create(paymentId, refund = {}, { idempotencyKey = randomUUID() } = {}) {
    return this._send("POST", `/v1/payments/${at(paymentId)}/refunds`, { body: refund, idempotencyKey });
  }

  cancel(id) {
    return this._send("POST", `${this._path}/${at(id)}/cancel`);
  }
}

class Banks extends Resource {
  list(page) {
    return this._send("GET", "/v1/banks", { query: page });
  }
}

class Links extends Listed {
  _path = "/v1/payment-links";

  create(link, options) {
    return this._create(this._path, link, options);
  }

  cancel(id) {
    return this._send("POST", `${this._path}/${at(id)}/cancel`);
  }
}

class Balance extends Resource {
  get(moment) {
    return this._send("GET", "/v1/balance", { query: moment });
  }
}

class Receipts extends Listed {
  _path = "/v1/receipts";

  accept(id, decision) {
    return this._send("POST", `${this._path}/${at(id)}/accept`, { body: decision });
  }

  return(id, decision) {
    return this._send("POST", `${this._path}/${at(id)}/return`, { body: decision });
  }
}

class Events extends Listed {
  _path = "/v1/events";
}

class Keys extends Resource {
  revoke(id) {
    return this._send("DELETE", `/v1/api-keys/${at(id)}`);
  }
}

class Sandbox extends Resource {
  simulate(paymentId, report) {
    return this._send("POST", `/v1/sandbox/payments/${at(paymentId)}/simulate`, { body: report });
  }

  simulateRefund(refundId, report) {
    return this._send("POST", `/v1/sandbox/refunds/${at(refundId)}/simulate`, { body: report });
  }
}
