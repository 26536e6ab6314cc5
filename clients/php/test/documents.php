<?php

/**
 * Runs the code in the README and in docs/clients.md as it is written, against a running sandbox.
 *
 * LUNAS_URL, LUNAS_API_KEY, LUNAS_PROJECT_ID, LUNAS_WEBHOOK_SECRET: the server and its project.
 */

declare(strict_types=1);

$rawBody = json_encode(['id' => 'evt_1', 'type' => 'invoice.sent', 'created_at' => '', 'data' => ['id' => 'x']]);

function signature(string $body): string
{
    $now = time();
    return "t=$now,v1=" . hash_hmac('sha256', "$now.$body", getenv('LUNAS_WEBHOOK_SECRET'));
}

/** A request's body, which a program in a terminal has not: stands in for `php://input`. */
final class RequestBody
{
    public $context;
    private int $read = 0;

    public function stream_open(string $path): bool
    {
        return $path === 'php://input';
    }

    public function stream_read(int $bytes): string
    {
        $piece = substr($GLOBALS['rawBody'], $this->read, $bytes);
        $this->read += strlen($piece);
        return $piece;
    }

    public function stream_eof(): bool
    {
        return $this->read >= strlen($GLOBALS['rawBody']);
    }

    public function stream_stat(): array
    {
        return [];
    }
}

/** A document's blocks as one program, with the client in the place where Composer would have put it. */
function program(string $document): string
{
    preg_match_all('/^```php\n(.*?)^```$/ms', file_get_contents($document), $blocks);
    $blocks[1] !== [] || throw new Exception("$document has no code");
    return str_replace("'vendor/autoload.php'", var_export(dirname(__DIR__) . '/autoload.php', true), implode("\n", $blocks[1]));
}

[$readme, $guide] = [program(dirname(__DIR__) . '/README.md'), program(dirname(__DIR__, 3) . '/docs/clients.md')];
$_SERVER['HTTP_X_SERVICE_SIGNATURE'] = signature($rawBody);
stream_wrapper_unregister('php');
stream_wrapper_register('php', RequestBody::class);
eval($readme);
stream_wrapper_restore('php');
$event->data === ['id' => 'x'] || throw new Exception('another event');
eval($guide);
paymentPage('ORDER-1') === paymentPage('ORDER-1') || throw new Exception('two links for one order');
paidOrder($rawBody, signature($rawBody)) === null || throw new Exception('an order was paid');
echo "\nthe documents' code runs\n";
