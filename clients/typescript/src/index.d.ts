/** Amounts are whole rupiah, times are UTC like `2026-11-14T09:30:00.000Z`. Members have the names of the API. */

export interface Options {
  /** Where Lunas is, for example `https://pay.example.com`. */
  baseUrl: string;
  /** `sk_test_…` or `sk_live_…`. Keep it on your server. */
  apiKey: string;
  /** Sent as `project_id` of payments and links that name none. */
  projectId?: string;
  /** The language of `payment_steps`; `id` by default. */
  language?: "id" | "en";
  /** How long one attempt may take; 30 by default. */
  timeoutSeconds?: number;
  /** 4 by default; 0 turns retries off. */
  maxRetries?: number;
  /** No retry starts later than this after the call; 60 by default. */
  maxRetrySeconds?: number;
  fetch?: typeof fetch;
}

export class Lunas {
  constructor(options: Options);
  readonly payments: {
    create(payment: CreatePayment, options?: CreateOptions): Promise<Payment>;
    list(filters?: PaymentFilters & Page): Promise<Listing<Payment>>;
    all(filters?: PaymentFilters): AsyncGenerator<Payment, void>;
    get(id: string): Promise<Payment>;
  };
  /** Money back to customers. Creating and cancelling need a key with the right `refunds`. */
  readonly refunds: {
    create(paymentId: string, refund?: CreateRefund, options?: CreateOptions): Promise<Refund>;
    list(filters?: RefundFilters & Page): Promise<Listing<Refund>>;
    all(filters?: RefundFilters): AsyncGenerator<Refund, void>;
    get(id: string): Promise<Refund>;
    /** Works until something was sent. */
    cancel(id: string): Promise<Refund>;
  };
  /** The banks that refunds by transfer reach. */
  readonly banks: { list(page?: Page): Promise<Listing<Bank>> };
  readonly links: {
    create(link: CreateLink, options?: CreateOptions): Promise<PaymentLink>;
    list(filters?: LinkFilters & Page): Promise<Listing<PaymentLink>>;
    all(filters?: LinkFilters): AsyncGenerator<PaymentLink, void>;
    get(id: string): Promise<PaymentLink>;
    /** Cancels the link and its pending payments. */
    cancel(id: string): Promise<PaymentLink>;
  };
  readonly balance: {
    /** The balance now, or at an instant that has passed. */
    get(moment?: { at?: string }): Promise<Balance>;
  };
  /** Money that fits no payment, held until somebody decides about it. Deciding needs a key with the right `held-money`. */
  readonly receipts: {
    list(filters?: ReceiptFilters & Page): Promise<Listing<Receipt>>;
    all(filters?: ReceiptFilters): AsyncGenerator<Receipt, void>;
    get(id: string): Promise<Receipt>;
    accept(id: string, decision: AcceptReceipt): Promise<Receipt>;
    return(id: string, decision: ReturnReceipt): Promise<Receipt>;
  };
  readonly events: {
    list(filters?: EventFilters & Page): Promise<Listing<Event>>;
    all(filters?: EventFilters): AsyncGenerator<Event, void>;
    get(id: string): Promise<Event>;
  };
  /** A key may always revoke itself; to revoke another it needs the right `payments`. */
  readonly keys: { revoke(id: string): Promise<RevokedApiKey> };
  readonly sandbox: {
    simulate(paymentId: string, report: Simulate): Promise<Payment>;
    simulateRefund(refundId: string, report: SimulateRefund): Promise<Refund>;
  };
}

export class LunasError extends Error {
  constructor(
    code: string,
    message: string,
    details?: { status?: number | null; requestId?: string | null; retryAfter?: number | null },
  );
  /** The API's code, or `TIMEOUT`, `CONNECTION_LOST`, `UNEXPECTED_ANSWER`, `WEBHOOK_…`. */
  readonly code: string;
  /** The HTTP status; null if there was no answer. */
  readonly status: number | null;
  /** By which the server's log knows the request. */
  readonly requestId: string | null;
  /** After how many seconds the server asks to try again. */
  readonly retryAfter: number | null;
}

/** The event, if the signature is valid; otherwise it throws a `LunasError` whose code says why not. */
export function verifyWebhook(
  body: Uint8Array | string,
  header: string | null | undefined,
  secret: string,
  options?: { toleranceSeconds?: number },
): Event;

export interface CreateOptions {
  /** Generated if you give none. Give your own to make a create of yours repeatable across restarts. */
  idempotencyKey?: string;
}

export type BankCode =
  | "bca" | "bni" | "bri" | "mandiri" | "permata" | "cimb" | "bsi"
  | "danamon" | "btn" | "maybank" | "bjb" | "bnc" | "bss";
export type PaymentMethod = { type: "qris" } | { type: "virtual_account"; bank: BankCode };
/** `virtual_account` without a bank means every bank that the project offers. */
export type AllowedMethod = { type: "qris" } | { type: "virtual_account"; bank?: BankCode | null };
export type Environment = "sandbox" | "production";
/** `succeeded` in place of `paid` where the project chose that word. */
export type PaymentStatus = "pending" | "processing" | "paid" | "succeeded" | "failed" | "expired" | "cancelled";
export type HeldReason = "wrong_amount" | "already_paid" | "link_claimed" | "too_late" | "receipt_reused";
export type Metadata = Record<string, string>;

export interface CreatePayment {
  /** Required unless the client has a `projectId`. */
  project_id?: string;
  /** Your own order id; need not be unique. */
  reference: string;
  amount: number;
  payment_method: PaymentMethod;
  expires_in_minutes?: number | null;
  metadata?: Metadata | null;
  /** Where the checkout leads the customer back to. */
  return_url?: string | null;
}

export interface CreateLink {
  /** Required unless the client has a `projectId`. */
  project_id?: string;
  title: string;
  /** Required, unless `amount_min` and `amount_max` are given. */
  amount?: number | null;
  /** The customer chooses how many; `amount` is for one. */
  quantity_max?: number | null;
  /** The customer types the amount, from this … */
  amount_min?: number | null;
  /** … to this. */
  amount_max?: number | null;
  reference?: string | null;
  description?: string | null;
  expires_at?: string | null;
  allowed_payment_methods?: AllowedMethod[] | null;
  allow_multiple_payments?: boolean | null;
  customer_fields?: Partial<CustomerFields> | null;
  metadata?: Metadata | null;
  /** Where the checkout leads the customer back to. */
  return_url?: string | null;
}

export interface AcceptReceipt {
  note: string;
  /** Another payment that the money pays. */
  payment_id?: string | null;
  /** Whether the money may be more or less than the amount. */
  accept_difference?: boolean | null;
}

export interface ReturnReceipt {
  note: string;
  /** Sends the money there, in place of recording that you sent it; needs the right `refunds` too. */
  destination?: GivenDestination | null;
}

export interface CreateRefund {
  /** All that is left if omitted. */
  amount?: number | null;
  reason?: string | null;
  /** The customer's bank account; without it, the road that fits is taken, or the customer is asked. */
  destination?: GivenDestination | null;
  metadata?: Metadata | null;
}

export interface GivenDestination {
  /** The `code` of one of `banks.list()`. */
  bank: string;
  account_number: string;
  account_name?: string | null;
}

export interface Simulate {
  outcome: "paid" | "failed" | "processing" | "expired";
  amount?: number | null;
  paid_at?: string | null;
  receipt_id?: string | null;
}

export interface SimulateRefund {
  outcome: "succeeded" | "failed" | "returned";
}

export interface Page {
  page?: number;
  page_size?: number;
}

export interface PaymentFilters {
  search?: string;
  q?: string;
  payment_link_id?: string;
  status?: PaymentStatus;
  method?: "qris" | "virtual_account";
  created_from?: string;
  created_to?: string;
}

export interface RefundFilters {
  payment_id?: string;
  status?: Refund["status"];
  created_from?: string;
  created_to?: string;
}

export interface LinkFilters {
  search?: string;
  created_from?: string;
  created_to?: string;
}

export interface ReceiptFilters {
  state?: Receipt["state"];
  payment_id?: string;
  /** Compared with `received_at`, as `created_to` is. */
  created_from?: string;
  created_to?: string;
}

export interface EventFilters {
  type?: Event["type"];
  /** Only what followed this event, oldest first. */
  after?: string;
  created_from?: string;
  created_to?: string;
}

export interface Listing<T> {
  data: T[];
  pagination: Pagination;
}

export interface Pagination {
  page: number;
  page_size: number;
  total_items: number;
  total_pages: number;
}

export interface Payment {
  id: string;
  payment_link_id: string | null;
  project_id: string;
  reference: string;
  amount: number;
  currency: "IDR";
  fee_bearer: "merchant";
  fee_amount: number;
  merchant_net: number;
  /** What was given back of it. */
  refunded_amount: number;
  status: PaymentStatus;
  checkout_url: string;
  payment_method: PaymentMethod;
  instructions: Instructions;
  customer: Customer;
  checkout_context: CheckoutContext;
  expires_at: string;
  paid_at: string | null;
  created_at: string;
  metadata?: Metadata;
  /** Of links with `quantity_max`: how many; `amount` is for all of them. */
  quantity?: number;
  return_url?: string;
  /** In the event `payment.held`: the money. */
  receipt?: HeldReceipt;
}

export type Instructions = QrisInstructions | VirtualAccountInstructions;

export interface QrisInstructions {
  qr_string: string;
  /** A `data:` URL of a PNG. */
  qr_image_url: string;
}

export interface VirtualAccountInstructions {
  bank_name: string;
  virtual_account_number: string;
  payment_steps: string[];
}

export interface Customer {
  name: string;
  email: string;
  phone: string;
  address: string;
}

export interface CheckoutContext {
  location: Location;
  device: Device;
}

export interface Location {
  ip?: string;
  country?: string;
}

export interface Device {
  type?: "desktop" | "mobile" | "tablet" | "bot" | "unknown";
  os?: string;
  browser?: string;
  user_agent?: string;
}

export interface PaymentLink {
  id: string;
  project_id: string;
  merchant_name: string;
  reference: string;
  title: string;
  description: string;
  /** 0 where the customer types it. */
  amount: number;
  currency: "IDR";
  fee_bearer: "merchant";
  fee_previews: FeePreview[];
  allowed_payment_methods: PaymentMethod[];
  allow_multiple_payments: boolean;
  customer_fields: CustomerFields;
  status: "active" | "cancelled" | "inactive";
  created_at: string;
  /** The page that you pass on to your customer. */
  url: string;
  expires_at: string | null;
  metadata?: Metadata;
  quantity_max?: number;
  amount_min?: number;
  amount_max?: number;
  return_url?: string;
}

export interface FeePreview {
  payment_method: PaymentMethod;
  fee_amount: number;
  customer_amount: number;
  merchant_net: number;
}

export interface CustomerFields {
  name: boolean;
  email: boolean;
  phone: boolean;
  address: boolean;
}

export interface Balance {
  project_id: string;
  environment: Environment;
  currency: "IDR";
  available: number;
  pending: number;
  unapplied: number;
  /** Money of refunds that are under way. */
  refunding: number;
  as_of: string;
}

export interface Refund {
  id: string;
  /** Null for held money that is returned. */
  payment_id: string | null;
  /** The held money; null for a refund of a payment. */
  receipt_id: string | null;
  project_id: string;
  amount: number;
  currency: "IDR";
  status: "requires_action" | "pending" | "succeeded" | "failed" | "cancelled" | "returned";
  pending_reason: "awaiting_approval" | "insufficient_balance" | "processing" | null;
  road: "qris" | "transfer";
  reason: string | null;
  destination: RefundDestination | null;
  /** Where the customer says to which account; only while it `requires_action`, and for keys with the right `refunds`. */
  claim_url: string | null;
  bank_reference: string | null;
  failure_reason: string | null;
  metadata: Metadata | null;
  created_at: string;
  updated_at: string;
  succeeded_at: string | null;
}

export interface RefundDestination {
  bank: string;
  last_four: string;
  /** As the bank says it; null until it has. */
  account_name: string | null;
}

export interface Bank {
  code: string;
  name: string;
  rails: BankRail[];
}

/** A way in which a transfer reaches a bank, and the amounts that it takes. */
export interface BankRail {
  rail: "intrabank" | "bi_fast" | "online" | "skn" | "rtgs" | "wallet";
  least: number;
  most: number;
}

export interface Receipt {
  id: string;
  project_id: string;
  payment_id: string;
  amount: number;
  currency: "IDR";
  reason: HeldReason;
  state: "held" | "accepted" | "returned";
  paid_at: string;
  received_at: string;
  /** Null while the money is held. */
  decision: ReceiptDecision | null;
}

export interface ReceiptDecision {
  payment_id: string | null;
  difference: number | null;
  /** The refund that sends the money back; null if it was given back elsewhere, or accepted. */
  refund_id: string | null;
  note: string;
  decided_by: string | null;
  decided_at: string;
}

export interface HeldReceipt {
  id: string;
  amount: number;
  reason: HeldReason;
  paid_at: string;
}

export type Event = PaymentEvent | RefundEvent | ApiKeyEvent;

export interface PaymentEvent {
  id: string;
  type: "payment.paid" | "payment.failed" | "payment.expired" | "payment.cancelled" | "payment.held";
  created_at: string;
  data: Payment;
}

export interface RefundEvent {
  id: string;
  type: "refund.requires_action" | "refund.succeeded" | "refund.failed" | "refund.cancelled" | "refund.returned";
  created_at: string;
  data: Refund;
}

export interface ApiKeyEvent {
  id: string;
  type: "apikey.deleted";
  created_at: string;
  data: RevokedApiKey;
}

export interface RevokedApiKey {
  id: string;
  name: string;
  environment: Environment;
  project_id: string;
  key_prefix: "sk_test_" | "sk_live_";
  revoked_at: string;
}
