/** Compiled by `tsc`, never run: what a program may write, and what the compiler must refuse. */

import { Lunas, LunasError, verifyWebhook, type Payment } from "../src/index.js";

export async function use(lunas: Lunas): Promise<string> {
  const payment: Payment = await lunas.payments.create(
    { reference: "ORDER-1", amount: 15000, payment_method: { type: "virtual_account", bank: "bca" }, return_url: "https://shop.example" },
    { idempotencyKey: "order-1" },
  );
  // @ts-expect-error a virtual account has a bank
  await lunas.payments.create({ reference: "ORDER-1", amount: 15000, payment_method: { type: "virtual_account" } });
  // @ts-expect-error no such filter
  await lunas.payments.list({ reference: "ORDER-1" });
  await lunas.refunds.create(payment.id, { amount: 5000, destination: { bank: "bca", account_number: "0123456789" } });
  // @ts-expect-error a destination has an account number
  await lunas.refunds.create(payment.id, { destination: { bank: "bca" } });
  // @ts-expect-error a note is required
  await lunas.receipts.return("rcp_1", {});
  for await (const link of lunas.links.all({ search: "kopi" })) {
    const most: number | undefined = link.quantity_max;
    if (most === undefined) await lunas.links.cancel(link.id);
  }
  return "qr_string" in payment.instructions ? payment.instructions.qr_string : payment.instructions.virtual_account_number;
}

export function receive(body: Uint8Array, header: string | undefined): string | null {
  try {
    const event = verifyWebhook(body, header, "whsec_", { toleranceSeconds: 60 });
    // @ts-expect-error not every event is about a payment
    event.data.amount;
    if (event.type === "apikey.deleted") return event.data.revoked_at;
    return "road" in event.data ? event.data.succeeded_at : event.data.paid_at;
  } catch (error) {
    return error instanceof LunasError ? error.code : null;
  }
}
