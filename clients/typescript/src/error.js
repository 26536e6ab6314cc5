/**
 * Every failure of this client. `code` is the API's own (`VALIDATION_ERROR`, …), or one of the client's:
 * `TIMEOUT`, `CONNECTION_LOST`, `UNEXPECTED_ANSWER`, and `WEBHOOK_…` from `verifyWebhook`.
 */
export class LunasError extends Error {
  constructor(code, message, { status = null, requestId = null, retryAfter = null } = {}) {
    super(message);
    this.name = "LunasError";
    this.code = code;
    this.status = status;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
  }
}
