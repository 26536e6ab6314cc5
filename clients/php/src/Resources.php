<?php

/**
 * One method for each endpoint that an API key may use. Arguments have the names of the API, so that get_defined_vars() is what
 * is sent; those that are null are left out.
 */

declare(strict_types=1);

namespace Lunas;

abstract class Endpoint
{
    private const PAGE_SIZE_MOST = 100;

    public function __construct(protected readonly Transport $transport, private readonly ?string $projectId)
    {
    }

    /** @param array<string, mixed> $members the body, and beside it `idempotency_key` */
    protected function post(string $class, string $path, array $members): object
    {
        $key = $members['idempotency_key'] ?? Transport::randomKey();
        unset($members['idempotency_key']);
        foreach (['metadata', 'customer_fields'] as $name) {
            // An empty one is `{}` too, not `[]`.
            $members[$name] = isset($members[$name]) ? (object) $members[$name] : null;
        }
        $members['project_id'] ??= $this->projectId;
        return Reader::read($class, $this->transport->send('POST', $path, [], $members, $key));
    }

    /** @param array<string, mixed> $query */
    protected function read(string $class, string $path, array $query = []): object
    {
        return Reader::read($class, $this->transport->send('GET', $path, $query));
    }

    /** @param array<string, mixed> $query */
    protected function page(string $class, string $path, array $query): Listing
    {
        $json = $this->transport->send('GET', $path, $query);
        $data = array_map(fn (array $item): object => Reader::read($class, $item), $json['data'] ?? []);
        return new Listing($data, Reader::read(Pagination::class, $json['pagination'] ?? []));
    }

    /** @param array<string, mixed> $filters arguments of list() */
    protected function pages(array $filters): \Generator
    {
        $previous = [];
        for ($page = 1, $pages = 1; $page <= $pages; $page++) {
            $listing = $this->list(...$filters, page: $page, page_size: self::PAGE_SIZE_MOST);
            foreach ($listing->data as $item) {
                // What was created meanwhile has moved the end of the previous page into this one.
                if (!isset($previous[$item->id])) {
                    yield $item;
                }
            }
            $previous = array_flip(array_column($listing->data, 'id'));
            $pages = $listing->pagination->total_pages;
        }
    }

    protected static function path(string $folder, string $id, string $action = ''): string
    {
        return "/v1/$folder/" . rawurlencode($id) . $action;
    }
}

final class Payments extends Endpoint
{
    /**
     * @param array{type: string, bank?: string} $payment_method
     * @param ?array<string, string> $metadata
     * @param ?string $idempotency_key generated if you give none; give your own to repeat a create after a restart
     */
    public function create(
        string $reference,
        int $amount,
        array $payment_method,
        ?int $expires_in_minutes = null,
        ?array $metadata = null,
        ?string $return_url = null,
        ?string $project_id = null,
        ?string $idempotency_key = null,
    ): Payment {
        return $this->post(Payment::class, '/v1/payments', get_defined_vars());
    }

    /** @return Listing<Payment> */
    public function list(
        ?int $page = null,
        ?int $page_size = null,
        ?string $search = null,
        ?string $q = null,
        ?string $payment_link_id = null,
        ?string $status = null,
        ?string $method = null,
        ?string $created_from = null,
        ?string $created_to = null,
    ): Listing {
        return $this->page(Payment::class, '/v1/payments', get_defined_vars());
    }

    /** @return \Generator<int, Payment> */
    public function all(
        ?string $search = null,
        ?string $q = null,
        ?string $payment_link_id = null,
        ?string $status = null,
        ?string $method = null,
        ?string $created_from = null,
        ?string $created_to = null,
    ): \Generator {
        return $this->pages(get_defined_vars());
    }

    public function get(string $id): Payment
    {
        return $this->read(Payment::class, self::path('payments', $id));
    }
}

/** Money back to customers. */
final class Refunds extends Endpoint
{
    /**
     * Gives back all that is left, or $amount. Needs a key with the right `refunds`.
     *
     * @param ?array{bank: string, account_number: string, account_name?: string} $destination
     * @param ?array<string, string> $metadata
     * @param ?string $idempotency_key generated if you give none; give your own to repeat a create after a restart
     */
    public function create(
        string $payment_id,
        ?int $amount = null,
        ?string $reason = null,
        ?array $destination = null,
        ?array $metadata = null,
        ?string $idempotency_key = null,
    ): Refund {
        $body = ['amount' => $amount, 'reason' => $reason, 'destination' => $destination];
        $body['metadata'] = $metadata === null ? null : (object) $metadata;
        $path = self::path('payments', $payment_id, '/refunds');
        return Reader::read(Refund::class, $this->transport->send('POST', $path, [], $body, $idempotency_key ?? Transport::randomKey()));
    }

    /** @return Listing<Refund> */
    public function list(
        ?int $page = null,
        ?int $page_size = null,
        ?string $payment_id = null,
        ?string $status = null,
        ?string $created_from = null,
        ?string $created_to = null,
    ): Listing {
        return $this->page(Refund::class, '/v1/refunds', get_defined_vars());
    }

    /** @return \Generator<int, Refund> */
    public function all(
        ?string $payment_id = null,
        ?string $status = null,
        ?string $created_from = null,
        ?string $created_to = null,
    ): \Generator {
        return $this->pages(get_defined_vars());
    }

    public function get(string $id): Refund
    {
        return $this->read(Refund::class, self::path('refunds', $id));
    }

    /** Works until something was sent. Needs a key with the right `refunds`. */
    public function cancel(string $id): Refund
    {
        return Reader::read(Refund::class, $this->transport->send('POST', self::path('refunds', $id, '/cancel')));
    }
}

/** The banks that refunds by transfer reach. */
final class Banks extends Endpoint
{
    /** @return Listing<Bank> */
    public function list(?int $page = null, ?int $page_size = null): Listing
    {
        return $this->page(Bank::class, '/v1/banks', get_defined_vars());
    }
}

final class Links extends Endpoint
{
    /**
     * @param ?int $amount required, unless $amount_min and $amount_max are given
     * @param ?list<array{type: string, bank?: string}> $allowed_payment_methods
     * @param ?array{name?: bool, email?: bool, phone?: bool, address?: bool} $customer_fields
     * @param ?array<string, string> $metadata
     * @param ?string $idempotency_key generated if you give none; give your own to repeat a create after a restart
     */
    public function create(
        string $title,
        ?int $amount = null,
        ?int $quantity_max = null,
        ?int $amount_min = null,
        ?int $amount_max = null,
        ?string $reference = null,
        ?string $description = null,
        ?string $expires_at = null,
        ?array $allowed_payment_methods = null,
        ?bool $allow_multiple_payments = null,
        ?array $customer_fields = null,
        ?array $metadata = null,
        ?string $return_url = null,
        ?string $project_id = null,
        ?string $idempotency_key = null,
    ): PaymentLink {
        return $this->post(PaymentLink::class, '/v1/payment-links', get_defined_vars());
    }

    /** @return Listing<PaymentLink> */
    public function list(
        ?int $page = null,
        ?int $page_size = null,
        ?string $search = null,
        ?string $created_from = null,
        ?string $created_to = null,
    ): Listing {
        return $this->page(PaymentLink::class, '/v1/payment-links', get_defined_vars());
    }

    /** @return \Generator<int, PaymentLink> */
    public function all(?string $search = null, ?string $created_from = null, ?string $created_to = null): \Generator
    {
        return $this->pages(get_defined_vars());
    }

    public function get(string $id): PaymentLink
    {
        return $this->read(PaymentLink::class, self::path('payment-links', $id));
    }

    /** Cancels the link and its pending payments. */
    public function cancel(string $id): PaymentLink
    {
        return Reader::read(PaymentLink::class, $this->transport->send('POST', self::path('payment-links', $id, '/cancel')));
    }
}

final class Balances extends Endpoint
{
    /** The balance now, or at an instant that has passed. */
    public function get(?string $at = null): Balance
    {
        return $this->read(Balance::class, '/v1/balance', get_defined_vars());
    }
}

/** Money that fits no payment, held until somebody decides about it. */
final class Receipts extends Endpoint
{
    /**
     * $created_from and $created_to are compared with received_at.
     *
     * @return Listing<Receipt>
     */
    public function list(
        ?int $page = null,
        ?int $page_size = null,
        ?string $state = null,
        ?string $payment_id = null,
        ?string $created_from = null,
        ?string $created_to = null,
    ): Listing {
        return $this->page(Receipt::class, '/v1/receipts', get_defined_vars());
    }

    /** @return \Generator<int, Receipt> */
    public function all(
        ?string $state = null,
        ?string $payment_id = null,
        ?string $created_from = null,
        ?string $created_to = null,
    ): \Generator {
        return $this->pages(get_defined_vars());
    }

    public function get(string $id): Receipt
    {
        return $this->read(Receipt::class, self::path('receipts', $id));
    }

    /** Needs a key with the right `held-money`. */
    public function accept(string $id, string $note, ?string $payment_id = null, ?bool $accept_difference = null): Receipt
    {
        $body = ['note' => $note, 'payment_id' => $payment_id, 'accept_difference' => $accept_difference];
        return Reader::read(Receipt::class, $this->transport->send('POST', self::path('receipts', $id, '/accept'), [], $body));
    }

    /**
     * Needs a key with the right `held-money`; to have the money sent to a $destination, `refunds` too.
     *
     * @param ?array{bank: string, account_number: string, account_name?: string} $destination
     */
    public function return(string $id, string $note, ?array $destination = null): Receipt
    {
        $path = self::path('receipts', $id, '/return');
        $body = ['note' => $note, 'destination' => $destination];
        return Reader::read(Receipt::class, $this->transport->send('POST', $path, [], $body));
    }
}

final class Events extends Endpoint
{
    /**
     * With $after, only what followed that event, oldest first.
     *
     * @return Listing<Event>
     */
    public function list(
        ?int $page = null,
        ?int $page_size = null,
        ?string $type = null,
        ?string $after = null,
        ?string $created_from = null,
        ?string $created_to = null,
    ): Listing {
        return $this->page(Event::class, '/v1/events', get_defined_vars());
    }

    /** @return \Generator<int, Event> */
    public function all(
        ?string $type = null,
        ?string $after = null,
        ?string $created_from = null,
        ?string $created_to = null,
    ): \Generator {
        return $this->pages(get_defined_vars());
    }

    public function get(string $id): Event
    {
        return $this->read(Event::class, self::path('events', $id));
    }
}

final class Keys extends Endpoint
{
    /** A key may always revoke itself; to revoke another it needs the right `payments`. */
    public function revoke(string $id): RevokedApiKey
    {
        return Reader::read(RevokedApiKey::class, $this->transport->send('DELETE', self::path('api-keys', $id)));
    }
}

final class Sandbox extends Endpoint
{
    /**
     * Does what a bank's notification does.
     *
     * @param string $outcome paid, failed, processing or expired
     */
    public function simulate(
        string $payment_id,
        string $outcome,
        ?int $amount = null,
        ?string $paid_at = null,
        ?string $receipt_id = null,
    ): Payment {
        $body = ['outcome' => $outcome, 'amount' => $amount, 'paid_at' => $paid_at, 'receipt_id' => $receipt_id];
        $path = self::path('sandbox/payments', $payment_id, '/simulate');
        return Reader::read(Payment::class, $this->transport->send('POST', $path, [], $body));
    }
    /**
     * Does what the answer of a bank does.
     *
     * @param string $outcome succeeded, failed or returned
     */
    public function simulateRefund(string $refund_id, string $outcome): Refund
    {
        $path = self::path('sandbox/refunds', $refund_id, '/simulate');
        return Reader::read(Refund::class, $this->transport->send('POST', $path, [], ['outcome' => $outcome]));
    }
}
