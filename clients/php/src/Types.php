<?php

/** What the API sends. Amounts are whole rupiah, times are UTC like `2026-11-14T09:30:00.000Z`; null is what is not there. */

declare(strict_types=1);

namespace Lunas;

final class Payment
{
    /**
     * @param string $status pending, processing, paid, failed, expired or cancelled; a project can choose succeeded for paid
     * @param int $refunded_amount what was given back of it
     * @param ?array<string, string> $metadata
     * @param ?int $quantity of links with `quantity_max`: how many; `amount` is for all of them
     * @param ?HeldReceipt $receipt in the event `payment.held`: the money
     */
    public function __construct(
        public readonly string $id,
        public readonly ?string $payment_link_id,
        public readonly string $project_id,
        public readonly string $reference,
        public readonly int $amount,
        public readonly string $currency,
        public readonly string $fee_bearer,
        public readonly int $fee_amount,
        public readonly int $merchant_net,
        public readonly int $refunded_amount,
        public readonly string $status,
        public readonly string $checkout_url,
        public readonly PaymentMethod $payment_method,
        public readonly Instructions $instructions,
        public readonly Customer $customer,
        public readonly CheckoutContext $checkout_context,
        public readonly string $expires_at,
        public readonly ?string $paid_at,
        public readonly string $created_at,
        public readonly ?array $metadata = null,
        public readonly ?int $quantity = null,
        public readonly ?string $return_url = null,
        public readonly ?HeldReceipt $receipt = null,
    ) {
    }
}

final class PaymentMethod
{
    /**
     * @param string $type qris or virtual_account
     * @param ?string $bank of a virtual account
     */
    public function __construct(public readonly string $type, public readonly ?string $bank = null)
    {
    }
}

/** Of QRIS the first two, of a virtual account the others. */
final class Instructions
{
    /** @param ?list<string> $payment_steps */
    public function __construct(
        public readonly ?string $qr_string = null,
        public readonly ?string $qr_image_url = null,
        public readonly ?string $bank_name = null,
        public readonly ?string $virtual_account_number = null,
        public readonly ?array $payment_steps = null,
    ) {
    }
}

final class Customer
{
    public function __construct(
        public readonly string $name,
        public readonly string $email,
        public readonly string $phone,
        public readonly string $address,
    ) {
    }
}

final class CheckoutContext
{
    public function __construct(public readonly Location $location, public readonly Device $device)
    {
    }
}

final class Location
{
    public function __construct(public readonly ?string $ip = null, public readonly ?string $country = null)
    {
    }
}

final class Device
{
    public function __construct(
        public readonly ?string $type = null,
        public readonly ?string $os = null,
        public readonly ?string $browser = null,
        public readonly ?string $user_agent = null,
    ) {
    }
}

final class PaymentLink
{
    /**
     * @param int $amount 0 where the customer types it
     * @param list<FeePreview> $fee_previews
     * @param list<PaymentMethod> $allowed_payment_methods
     * @param string $status active, cancelled or inactive
     * @param string $url the page that you pass on to your customer
     * @param ?array<string, string> $metadata
     */
    public function __construct(
        public readonly string $id,
        public readonly string $project_id,
        public readonly string $merchant_name,
        public readonly string $reference,
        public readonly string $title,
        public readonly string $description,
        public readonly int $amount,
        public readonly string $currency,
        public readonly string $fee_bearer,
        #[ListOf(FeePreview::class)] public readonly array $fee_previews,
        #[ListOf(PaymentMethod::class)] public readonly array $allowed_payment_methods,
        public readonly bool $allow_multiple_payments,
        public readonly CustomerFields $customer_fields,
        public readonly string $status,
        public readonly string $created_at,
        public readonly string $url,
        public readonly ?string $expires_at,
        public readonly ?array $metadata = null,
        public readonly ?int $quantity_max = null,
        public readonly ?int $amount_min = null,
        public readonly ?int $amount_max = null,
        public readonly ?string $return_url = null,
    ) {
    }
}

final class FeePreview
{
    public function __construct(
        public readonly PaymentMethod $payment_method,
        public readonly int $fee_amount,
        public readonly int $customer_amount,
        public readonly int $merchant_net,
    ) {
    }
}

final class CustomerFields
{
    public function __construct(
        public readonly bool $name,
        public readonly bool $email,
        public readonly bool $phone,
        public readonly bool $address,
    ) {
    }
}

final class Balance
{
    public function __construct(
        public readonly string $project_id,
        public readonly string $environment,
        public readonly string $currency,
        public readonly int $available,
        public readonly int $pending,
        public readonly int $unapplied,
        public readonly int $refunding,
        public readonly string $as_of,
    ) {
    }
}

/** Money back to a customer. */
final class Refund
{
    /**
     * @param ?string $payment_id null for held money that is returned
     * @param ?string $receipt_id the held money; null for a refund of a payment
     * @param string $status requires_action, pending, succeeded, failed, cancelled or returned
     * @param ?string $pending_reason awaiting_approval, insufficient_balance or processing
     * @param string $road qris or transfer
     * @param ?string $claim_url only while it `requires_action`, and for keys with the right `refunds`
     * @param ?array<string, string> $metadata
     */
    public function __construct(
        public readonly string $id,
        public readonly ?string $payment_id,
        public readonly ?string $receipt_id,
        public readonly string $project_id,
        public readonly int $amount,
        public readonly string $currency,
        public readonly string $status,
        public readonly ?string $pending_reason,
        public readonly string $road,
        public readonly ?string $reason,
        public readonly ?RefundDestination $destination,
        public readonly ?string $claim_url,
        public readonly ?string $bank_reference,
        public readonly ?string $failure_reason,
        public readonly ?array $metadata,
        public readonly string $created_at,
        public readonly string $updated_at,
        public readonly ?string $succeeded_at,
    ) {
    }
}

final class RefundDestination
{
    /** @param ?string $account_name as the bank says it; null until it has */
    public function __construct(
        public readonly string $bank,
        public readonly string $last_four,
        public readonly ?string $account_name,
    ) {
    }
}

final class Bank
{
    /** @param list<BankRail> $rails */
    public function __construct(
        public readonly string $code,
        public readonly string $name,
        #[ListOf(BankRail::class)] public readonly array $rails,
    ) {
    }
}

/** A way in which a transfer reaches a bank, and the amounts that it takes. */
final class BankRail
{
    public function __construct(
        public readonly string $rail,
        public readonly int $least,
        public readonly int $most,
    ) {
    }
}

/** Money that fits no payment. */
final class Receipt
{
    /**
     * @param string $reason wrong_amount, already_paid, link_claimed, too_late or receipt_reused
     * @param string $state held, accepted or returned
     * @param ?ReceiptDecision $decision null while the money is held
     */
    public function __construct(
        public readonly string $id,
        public readonly string $project_id,
        public readonly string $payment_id,
        public readonly int $amount,
        public readonly string $currency,
        public readonly string $reason,
        public readonly string $state,
        public readonly string $paid_at,
        public readonly string $received_at,
        public readonly ?ReceiptDecision $decision,
    ) {
    }
}

final class ReceiptDecision
{
    public function __construct(
        public readonly ?string $payment_id,
        public readonly ?int $difference,
        public readonly ?string $refund_id,
        public readonly string $note,
        public readonly ?string $decided_by,
        public readonly string $decided_at,
    ) {
    }
}

final class HeldReceipt
{
    public function __construct(
        public readonly string $id,
        public readonly int $amount,
        public readonly string $reason,
        public readonly string $paid_at,
    ) {
    }
}

final class Event
{
    /**
     * @param string $type apikey.deleted, about a key; refund.succeeded, …, about a refund; or payment.paid, payment.failed, …, about
     *     a payment
     * @param Payment|Refund|RevokedApiKey|array<string, mixed> $data an array only of types that this client does not know
     */
    public function __construct(
        public readonly string $id,
        public readonly string $type,
        public readonly string $created_at,
        public readonly Payment|Refund|RevokedApiKey|array $data,
    ) {
    }
}

final class RevokedApiKey
{
    public function __construct(
        public readonly string $id,
        public readonly string $name,
        public readonly string $environment,
        public readonly string $project_id,
        public readonly string $key_prefix,
        public readonly string $revoked_at,
    ) {
    }
}

/**
 * One page of a list.
 *
 * @template T of object
 */
final class Listing
{
    /** @param list<T> $data */
    public function __construct(public readonly array $data, public readonly Pagination $pagination)
    {
    }
}

final class Pagination
{
    public function __construct(
        public readonly int $page,
        public readonly int $page_size,
        public readonly int $total_items,
        public readonly int $total_pages,
    ) {
    }
}
