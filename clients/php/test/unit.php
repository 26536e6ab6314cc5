<?php

/** php test/unit.php */

declare(strict_types=1);

require __DIR__ . '/../autoload.php';

use Lunas\Lunas;
use Lunas\LunasError;

use function Lunas\verifyWebhook;

set_error_handler(function (int $level, string $message, string $file, int $line): bool {
    return (error_reporting() & $level) === 0 ? true : throw new ErrorException($message, 0, $level, $file, $line);
});

define('KEY', implode('_', ['sk', 'test', str_repeat('a1', 19)]));
const ORDER = ['reference' => 'ORDER-1', 'amount' => 15000, 'payment_method' => ['type' => 'qris']];
const SECRET = 'whsec_lunas';

function same(mixed $expected, mixed $found, string $what = ''): void
{
    $expected === $found || throw new Exception("$what: expected " . json_encode($expected) . ', found ' . json_encode($found));
}

/** Runs $use with a client whose server gives $answers, and returns the requests that came. */
function against(array $answers, callable $use, mixed ...$options): array
{
    $pipes = [];
    $server = proc_open([PHP_BINARY, __DIR__ . '/fake-server.php'], [['pipe', 'r'], ['pipe', 'w'], STDERR], $pipes);
    try {
        fwrite($pipes[0], json_encode($answers) . "\n");
        $url = 'http://127.0.0.1:' . trim(fgets($pipes[1]));
        $use(new Lunas($url, KEY, 'prj_1', ...$options));
    } finally {
        proc_terminate($server, 9);
        $lines = array_filter(explode("\n", stream_get_contents($pipes[1])));
        proc_close($server);
    }
    return array_map(fn (string $line): array => json_decode($line, true), array_values($lines));
}

function failure(int $status, string $code = 'INTERNAL_ERROR', array $headers = []): array
{
    $body = ['error' => ['code' => $code, 'message' => 'because']];
    return [$status, ['X-Request-Id' => 'req_1'] + $headers, json_encode($body)];
}

function ok(array $json): array
{
    return [200, [], json_encode($json)];
}

/** A payment as the server sends it. */
function payment(string $id = 'pay_1'): array
{
    $texts = array_fill_keys(['name', 'email', 'phone', 'address'], '');
    return ORDER + [
        'id' => $id, 'payment_link_id' => null, 'project_id' => 'prj_1', 'currency' => 'IDR', 'fee_bearer' => 'merchant',
        'fee_amount' => 105, 'merchant_net' => 14895, 'refunded_amount' => 0, 'status' => 'pending',
        'checkout_url' => 'https://pay.example.com/pay/1', 'instructions' => ['qr_string' => '000201', 'qr_image_url' => 'data:'], 'customer' => $texts,
        'checkout_context' => ['location' => [], 'device' => []], 'expires_at' => '2026-11-15T06:40:51.760Z', 'paid_at' => null,
        'created_at' => '2026-11-15T06:25:51.760Z', 'member_of_a_later_version' => ['x' => 1],
    ];
}

const BALANCE = [
    'project_id' => 'prj_1', 'environment' => 'sandbox', 'currency' => 'IDR', 'available' => 1, 'pending' => 2, 'unapplied' => 3,
    'refunding' => 0, 'as_of' => '2026-11-15T06:40:51.760Z',
];
const RECEIPT = [
    'id' => 'rcp_1', 'project_id' => 'prj_1', 'payment_id' => 'pay_1', 'amount' => 1, 'currency' => 'IDR', 'reason' => 'too_late',
    'state' => 'returned', 'paid_at' => '', 'received_at' => '', 'decision' => null,
];

function fails(callable $call, mixed ...$expected): LunasError
{
    try {
        $call();
    } catch (LunasError $error) {
        foreach ($expected as $member => $value) {
            same($value, $error->$member, $member);
        }
        same(false, str_contains($error . print_r($error, true), KEY), 'no key in an error');
        return $error;
    }
    throw new Exception('no error');
}

$tests = [
    'a create carries the key, the project, the language and an idempotency key of its own' => function (): void {
        $requests = against([ok(payment())], function (Lunas $lunas): void {
            same('000201', $lunas->payments->create(...ORDER)->instructions->qr_string);
            $lunas->payments->create(...ORDER, metadata: [], project_id: 'prj_2', idempotency_key: 'mine');
        });
        same('POST /v1/payments HTTP/1.1', $requests[0]['line']);
        same('Bearer ' . KEY, $requests[0]['headers']['authorization']);
        same('id', $requests[0]['headers']['accept-language']);
        same(1, preg_match('/^[0-9a-f]{32}$/', $requests[0]['headers']['idempotency-key']));
        same(ORDER + ['project_id' => 'prj_1'], json_decode($requests[0]['body'], true));
        same('mine', $requests[1]['headers']['idempotency-key']);
        same(true, str_contains($requests[1]['body'], '"project_id":"prj_2"') && str_contains($requests[1]['body'], '"metadata":{}'));
    },
    '429, 500, 503 and lost connections are retried, with the same idempotency key and request id' => function (): void {
        $answers = [failure(429), failure(500), failure(503), 'lose', 'cut', ok(payment())];
        $use = fn (Lunas $lunas) => same('pay_1', $lunas->payments->create(...ORDER)->id);
        $requests = against($answers, $use, maxRetries: 5);
        same(6, count($requests));
        $headers = array_column($requests, 'headers');
        foreach (['idempotency-key', 'x-request-id'] as $name) {
            same(1, count(array_unique(array_column($headers, $name))), $name);
        }
        same(1, count(array_unique(array_column($requests, 'body'))));
    },
    'no other status is retried, and the error says everything about it' => function (): void {
        foreach ([400, 401, 403, 404, 409, 502, 504] as $status) {
            $use = function (Lunas $lunas) use ($status): void {
                $get = fn () => $lunas->payments->get('pay_1');
                $error = fails($get, status: $status, code: 'SOME_CODE', requestId: 'req_1', retryAfter: null);
                same('because', $error->getMessage());
            };
            same(1, count(against([failure($status, 'SOME_CODE')], $use)));
        }
    },
    'a retry waits as long as Retry-After asks for' => function (): void {
        $started = hrtime(true);
        against([failure(503, headers: ['Retry-After' => 1]), ok(BALANCE)], fn (Lunas $lunas) => $lunas->balance->get());
        same(true, hrtime(true) - $started >= 1_000_000_000);
    },
    'retries end by number, by time, and before a Retry-After that lasts too long' => function (): void {
        $use = fn (Lunas $lunas) => fails($lunas->balance->get(...), status: 500);
        same(3, count(against([failure(500)], $use, maxRetries: 2)));
        same(1, count(against([failure(500)], $use, maxRetrySeconds: 0)));
        $asked = fn (Lunas $lunas) => fails($lunas->balance->get(...), status: 429, retryAfter: 3600);
        same(1, count(against([failure(429, headers: ['Retry-After' => 3600])], $asked)));
    },
    'a POST without an idempotency key is not repeated after a lost connection, but is after 503' => function (): void {
        $lost = function (Lunas $lunas): void {
            fails(fn () => $lunas->receipts->accept('rcp_1', note: 'late'), code: 'CONNECTION_LOST', status: null);
        };
        same(1, count(against(['lose', ok(RECEIPT)], $lost)));
        $back = fn (Lunas $lunas) => $lunas->receipts->return('rcp_1', note: 'back');
        same(2, count(against([failure(503), ok(RECEIPT)], $back)));
        $key = ['id' => 'key_1', 'name' => '', 'environment' => '', 'project_id' => '', 'key_prefix' => '', 'revoked_at' => ''];
        $revoked = against(['lose', ok($key)], fn (Lunas $lunas) => $lunas->keys->revoke('key_1'));
        same(2, count($revoked), 'a DELETE may be repeated');
    },
    'an attempt ends after its time, and the error has the request id that was sent' => function (): void {
        $error = null;
        $use = function (Lunas $lunas) use (&$error): void {
            $error = fails($lunas->balance->get(...), code: 'TIMEOUT');
        };
        $requests = against(['hang'], $use, timeoutSeconds: 0.2, maxRetries: 1);
        same([$error->requestId, $error->requestId], array_column(array_column($requests, 'headers'), 'x-request-id'));
    },
    'what is not an answer of Lunas is an error, and redirects are not followed' => function (): void {
        foreach ([[502, [], '<h1>Bad gateway</h1>'], [200, [], 'Hello'], [302, ['Location' => '/v1'], '{}']] as $answer) {
            $use = fn (Lunas $lunas) => fails($lunas->balance->get(...), code: 'UNEXPECTED_ANSWER', status: $answer[0]);
            same(1, count(against([$answer], $use)));
        }
        against([ok(['id' => 'pay_1'])], fn (Lunas $lunas) => fails($lunas->balance->get(...), code: 'UNEXPECTED_ANSWER'));
    },
    'all() reads every page and gives nothing twice when the list moves' => function (): void {
        $pagination = ['page' => 1, 'page_size' => 100, 'total_items' => 5, 'total_pages' => 3];
        $pages = array_map(
            fn (string $ids): array => ok(['data' => array_map(payment(...), str_split($ids)), 'pagination' => $pagination]),
            ['ed', 'dc', 'ba'],
        );
        $requests = against($pages, function (Lunas $lunas): void {
            $found = iterator_to_array($lunas->payments->all(q: 'kopi susu', status: 'paid'), false);
            same(['e', 'd', 'c', 'b', 'a'], array_column($found, 'id'));
        });
        $expected = fn (int $page): string => "GET /v1/payments?page=$page&page_size=100&q=kopi+susu&status=paid HTTP/1.1";
        same(array_map($expected, [1, 2, 3]), array_column($requests, 'line'));
    },
    'ids are escaped, and bad settings are refused without naming the key' => function (): void {
        $requests = against([ok(payment())], fn (Lunas $lunas) => $lunas->payments->get('../balance?x'));
        same('GET /v1/payments/..%2Fbalance%3Fx HTTP/1.1', $requests[0]['line']);
        $bad = [['https://a', KEY . "\n"], ['https://a', ''], ['https://user:secret@a', KEY], ['ftp://a', KEY]];
        foreach ($bad as [$url, $key]) {
            try {
                new Lunas($url, $key);
                throw new Exception("$url was taken");
            } catch (InvalidArgumentException $error) {
                same(false, str_contains((string) $error, KEY));
            }
        }
        same(false, str_contains(print_r(new Lunas('https://example.com', KEY), true), KEY));
    },
    'a webhook is accepted with either signature of a rotation' => function (): void {
        $now = time();
        [$mine, $other] = [sign(SECRET, $now), sign('whsec_new', $now)];
        foreach (["t=$now,v1=$mine", "t=$now,v1=$other,v1=$mine", "t=$now, v1=$mine, v2=x"] as $header) {
            same('evt_1', verifyWebhook(body(), $header, SECRET)->id);
            same('Toko ☕ 100%s', verifyWebhook(body(), $header, SECRET)->data->customer->name);
        }
        same('evt_1', verifyWebhook(body(), at($now - 1000), SECRET, toleranceSeconds: 2000)->id);
        $unknown = json_encode(['id' => 'evt_2', 'type' => 'payout.paid', 'created_at' => '', 'data' => ['id' => 'x']]);
        same(['id' => 'x'], verifyWebhook($unknown, at($now, sign(SECRET, $now, $unknown)), SECRET)->data);
    },
    'a webhook that is not ours is refused, and the code says why' => function (): void {
        $now = time();
        $refused = fn (string $code, ?string $header, ?string $body = null, string $secret = SECRET) =>
            fails(fn () => verifyWebhook($body ?? body(), $header, $secret), code: $code);
        foreach ([null, ''] as $header) {
            $refused('WEBHOOK_HEADER_MISSING', $header);
        }
        foreach (['x', 'v1=' . sign(SECRET, $now), "t=$now", at('soon'), at(-1), at(str_repeat('9', 5000))] as $header) {
            $refused('WEBHOOK_HEADER_MALFORMED', $header);
        }
        $refused('WEBHOOK_SIGNATURE_MISMATCH', at($now), null, 'whsec_other');
        $refused('WEBHOOK_SIGNATURE_MISMATCH', at($now), substr(body(), 1));
        foreach (['', str_repeat('0', 64), substr(sign(SECRET, $now), 1), str_repeat('é', 32)] as $signature) {
            $refused('WEBHOOK_SIGNATURE_MISMATCH', at($now, $signature));
        }
        $refused('WEBHOOK_SIGNATURE_MISMATCH', 't=' . ($now + 1) . ',' . at($now));
        $refused('WEBHOOK_TOO_OLD', at($now - 302));
        $refused('WEBHOOK_FROM_THE_FUTURE', at($now + 302));
        $refused('WEBHOOK_NOT_JSON', at($now, sign(SECRET, $now, 'hello')), 'hello');
    },
];

function body(): string
{
    $data = payment();
    $data['customer']['name'] = 'Toko ☕ 100%s';
    return json_encode(['id' => 'evt_1', 'type' => 'payment.paid', 'created_at' => '', 'data' => $data], JSON_UNESCAPED_UNICODE) . " \n";
}

function sign(string $secret, int|string $time, ?string $body = null): string
{
    return hash_hmac('sha256', "$time." . ($body ?? body()), $secret);
}

function at(int|string $time, ?string $signature = null): string
{
    return "t=$time,v1=" . ($signature ?? sign(SECRET, $time));
}

foreach ($tests as $name => $test) {
    try {
        $test();
        echo "ok: $name\n";
    } catch (Throwable $error) {
        echo "FAILED: $name\n$error\n";
        $failed = true;
    }
}
exit(isset($failed) ? 1 : 0);
