<?php

/**
 * Calls every endpoint of a running sandbox and receives its webhook.
 *
 * LUNAS_URL, LUNAS_API_KEY, LUNAS_PROJECT_ID, LUNAS_WEBHOOK_SECRET: the server and its project.
 * LUNAS_WEBHOOK_PORT: the port of this machine to which the project's webhooks go.
 * LUNAS_SPARE_KEY_ID: a key of the project, to be revoked.
 */

declare(strict_types=1);

require __DIR__ . '/../autoload.php';

use Lunas\Event;
use Lunas\Lunas;
use Lunas\LunasError;
use Lunas\Payment;

use function Lunas\verifyWebhook;

const RETURN_URL = 'https://shop.example/orders/1';
const WEBHOOK_PATIENCE_SECONDS = 60;
$lunas = new Lunas(getenv('LUNAS_URL'), getenv('LUNAS_API_KEY'), getenv('LUNAS_PROJECT_ID'), language: 'en');
$reference = 'php-' . hrtime(true);
$order = [
    'reference' => $reference, 'amount' => 20000, 'payment_method' => ['type' => 'qris'], 'metadata' => ['cashier' => 'Kasir 1'],
];

function equal(mixed $left, mixed $right): void
{
    // By value, as two answers are never the same object.
    $left == $right || throw new Exception(json_encode($left) . ' is not ' . json_encode($right));
}

function fails(int $status, string $code, callable $call): void
{
    try {
        $call();
    } catch (LunasError $error) {
        equal([$error->status, $error->code], [$status, $code]);
        equal($error->requestId !== null, true);
        return;
    }
    throw new Exception("$code did not come");
}

function ids(iterable $items): array
{
    return array_column(is_array($items) ? $items : iterator_to_array($items, false), 'id');
}

function payments(Lunas $lunas, array $order, string $reference): Payment
{
    $payment = $lunas->payments->create(...$order, idempotency_key: $reference);
    equal($payment->metadata, $order['metadata']);
    equal($payment->instructions->qr_string !== null, true);
    equal($lunas->payments->create(...$order, idempotency_key: $reference)->id, $payment->id);
    $other = ['amount' => 1000] + $order;
    fails(409, 'IDEMPOTENCY_CONFLICT', fn () => $lunas->payments->create(...$other, idempotency_key: $reference));
    fails(400, 'VALIDATION_ERROR', fn () => $lunas->payments->create(...['amount' => 1] + $order));
    fails(404, 'RESOURCE_NOT_FOUND', fn () => $lunas->payments->get('pay_unknown'));
    equal($lunas->payments->get($payment->id), $payment);
    $filters = ['q' => $reference, 'status' => 'pending', 'method' => 'qris', 'created_from' => $payment->created_at];
    equal(ids($lunas->payments->list(...$filters, page: 1, page_size: 1)->data), [$payment->id]);
    equal(ids($lunas->payments->all(search: $reference)), [$payment->id]);
    equal($lunas->payments->list(search: $reference, created_to: $payment->created_at)->data, []);
    $bank = $lunas->payments->create(...['payment_method' => ['type' => 'virtual_account', 'bank' => 'bca']] + $order);
    equal(preg_grep('/open/i', $bank->instructions->payment_steps) !== [], true);
    return $payment;
}

function links(Lunas $lunas, string $reference): void
{
    $link = $lunas->links->create('Kopi susu', amount: 25000, reference: $reference, customer_fields: ['name' => true]);
    equal([$link->customer_fields->name, $link->fee_previews[0]->customer_amount], [true, 25000]);
    equal($lunas->links->get($link->id), $link);
    equal(ids($lunas->links->list(search: $reference)->data), [$link->id]);
    equal(ids($lunas->links->all(search: $reference, created_from: $link->created_at)), [$link->id]);
    equal($lunas->links->cancel($link->id)->status, 'cancelled');
    fails(409, 'PAYMENT_LINK_NOT_ACTIVE', fn () => $lunas->links->cancel($link->id));
}

function money(Lunas $lunas, array $order, Payment $payment): void
{
    equal($lunas->sandbox->simulate($payment->id, outcome: 'paid')->status, 'paid');
    foreach ([19000, 21000] as $amount) {
        $lunas->sandbox->simulate($payment->id, outcome: 'paid', amount: $amount);
    }
    [$more, $less] = $lunas->receipts->list(payment_id: $payment->id, state: 'held')->data;
    equal($less->reason, 'wrong_amount');
    equal($lunas->receipts->get($less->id), $less);
    $back = $lunas->receipts->return($more->id, note: 'sent back');
    equal([$back->state, $back->decision->note], ['returned', 'sent back']);
    $other = $lunas->payments->create(...$order)->id;
    fails(400, 'VALIDATION_ERROR', fn () => $lunas->receipts->accept($less->id, note: 'too little', payment_id: $other));
    $accepted = $lunas->receipts->accept($less->id, note: 'fine', payment_id: $other, accept_difference: true);
    equal($accepted->decision->difference, -1000);
    equal(count(ids($lunas->receipts->all(payment_id: $payment->id))), 2);
    equal(count(ids($lunas->receipts->all(payment_id: $payment->id, created_from: $less->received_at))), 2);
    equal($lunas->receipts->list(payment_id: $payment->id, created_to: $less->received_at)->data, []);
    $balance = $lunas->balance->get();
    equal($balance->pending + $balance->available > 0, true);
    equal($lunas->balance->get(at: $payment->created_at)->as_of, $payment->created_at);
}

function refunds(Lunas $lunas, Payment $payment, string $reference): void
{
    $wanted = ['payment_id' => $payment->id, 'amount' => 5000, 'reason' => 'damaged', 'idempotency_key' => "$reference-back"];
    $refunding = $lunas->balance->get()->refunding;
    $part = $lunas->refunds->create(...$wanted);
    equal([$part->payment_id, $part->amount, $part->road, $part->reason], [$payment->id, 5000, 'qris', 'damaged']);
    equal($lunas->refunds->create(...$wanted)->id, $part->id);
    $other = ['amount' => null] + $wanted;
    fails(409, 'IDEMPOTENCY_CONFLICT', fn () => $lunas->refunds->create(...$other));
    fails(409, 'CONFLICT', fn () => $lunas->refunds->create($payment->id, amount: $payment->amount));
    equal($lunas->sandbox->simulateRefund($part->id, outcome: 'succeeded')->status, 'succeeded');
    equal($lunas->payments->get($payment->id)->refunded_amount, 5000);
    fails(409, 'CONFLICT', fn () => $lunas->refunds->cancel($part->id));
    [$bank] = $lunas->banks->list(page_size: 1)->data;
    $destination = ['bank' => $bank->code, 'account_number' => '0123456789', 'account_name' => 'Siti'];
    $transfer = $lunas->refunds->create($payment->id, amount: 1903, destination: $destination, metadata: ['ticket' => '7']);
    equal([$transfer->road, $transfer->destination->last_four, $transfer->metadata], ['transfer', '6789', ['ticket' => '7']]);
    equal($lunas->refunds->cancel($transfer->id)->status, 'cancelled');
    equal(ids($lunas->refunds->list(payment_id: $payment->id, status: 'succeeded')->data), [$part->id]);
    equal(ids($lunas->refunds->all(payment_id: $payment->id)), [$transfer->id, $part->id]);
    equal($lunas->refunds->get($part->id)->status, 'succeeded');
    fails(404, 'RESOURCE_NOT_FOUND', fn () => $lunas->refunds->get('rfd_unknown'));
    equal($lunas->balance->get()->refunding, $refunding);
}

function events(Lunas $lunas, Payment $payment): void
{
    [$newest] = $lunas->events->list(type: 'payment.paid', page_size: 1)->data;
    equal($lunas->events->get($newest->id), $newest);
    foreach ($lunas->events->all(type: 'payment.paid') as $event) {
        if ($event->data->id === $payment->id) {
            equal(in_array($newest->id, ids($lunas->events->all(after: $event->id)), true), true);
            $since = ids($lunas->events->all(created_from: $event->created_at));
            equal(in_array($event->id, $since, true), true);
            $before = ids($lunas->events->list(created_to: $event->created_at, page_size: 100)->data);
            equal(in_array($event->id, $before, true), false);
            return;
        }
    }
    throw new Exception('no event of the payment');
}

function keys(Lunas $lunas): void
{
    equal($lunas->keys->revoke(getenv('LUNAS_SPARE_KEY_ID'))->id, getenv('LUNAS_SPARE_KEY_ID'));
    fails(404, 'RESOURCE_NOT_FOUND', fn () => $lunas->keys->revoke('key_unknown'));
}

function prices_and_the_way_back(Lunas $lunas, array $order): void
{
    equal($lunas->payments->create(...$order, return_url: RETURN_URL)->return_url, RETURN_URL);
    $pieces = $lunas->links->create('Tiket', amount: 25000, quantity_max: 10, return_url: RETURN_URL);
    equal([$pieces->quantity_max, $pieces->return_url], [10, RETURN_URL]);
    $open = $lunas->links->create('Donasi', amount_min: 10000, amount_max: 500000);
    equal([$open->amount, $open->amount_min, $open->amount_max], [0, 10000, 500000]);
}

/** @param resource $receiver */
function webhook_of($receiver, Payment $payment): Event
{
    while (($connection = stream_socket_accept($receiver, WEBHOOK_PATIENCE_SECONDS)) !== false) {
        $head = stream_get_line($connection, 65_536, "\r\n\r\n");
        preg_match('/^content-length: (\d+)/mi', $head, $length);
        preg_match('/^x-service-signature: (.*?)\r?$/mi', $head, $signature);
        $body = stream_get_contents($connection, (int) $length[1]);
        fwrite($connection, "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
        fclose($connection);
        $event = verifyWebhook($body, $signature[1], getenv('LUNAS_WEBHOOK_SECRET'));
        if ($event->data->id === $payment->id) {
            return $event;
        }
    }
    throw new Exception('no webhook came');
}

$receiver = stream_socket_server('tcp://127.0.0.1:' . getenv('LUNAS_WEBHOOK_PORT'));
$payment = payments($lunas, $order, $reference);
links($lunas, $reference);
money($lunas, $order, $payment);
equal(webhook_of($receiver, $payment)->type, 'payment.paid');
fclose($receiver);
refunds($lunas, $payment, $reference);
events($lunas, $payment);
keys($lunas);
prices_and_the_way_back($lunas, $order);
echo "every endpoint answered as expected\n";
