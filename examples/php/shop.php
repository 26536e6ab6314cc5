<?php

/** A shop in one file: a cart, a payment link, the webhook, and the order that it pays. Orders live in a file. */

declare(strict_types=1);

require __DIR__ . '/../../clients/php/autoload.php';

use Lunas\Lunas;
use Lunas\LunasError;

use function Lunas\verifyWebhook;

const CART = [
    ['name' => 'Kopi susu gula aren', 'pieces' => 2, 'price' => 25000],
    ['name' => 'Roti bakar', 'pieces' => 1, 'price' => 18000],
];

function total(): int
{
    return array_sum(array_map(fn (array $row): int => $row['pieces'] * $row['price'], CART));
}

function rupiah(int $amount): string
{
    return 'Rp' . number_format($amount, 0, ',', '.');
}

/** Runs $change on what is kept, while nobody else does. */
function kept(callable $change): mixed
{
    // Not in the temporary directory, where anybody could have made the file first, nor where the web server finds it.
    $directory = getenv('SHOP_DATA') ?: dirname(__DIR__, 2) . '/lunas-shop-data';
    is_dir($directory) || mkdir($directory, 0700);
    $file = fopen("$directory/orders.json", 'c+');
    flock($file, LOCK_EX);
    $data = json_decode(stream_get_contents($file), true) ?? ['orders' => [], 'events' => []];
    $result = $change($data);
    ftruncate($file, 0);
    rewind($file);
    fwrite($file, json_encode($data));
    fclose($file);
    return $result;
}

function page(string $title, string $main = '', string $head = ''): void
{
    echo <<<HTML
        <!doctype html><html lang="id"><head><meta charset="utf-8"><title>$title</title><link rel="icon" href="data:,">$head
        <meta name="viewport" content="width=device-width">
        <style>body{font:18px/1.5 sans-serif;max-width:28rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}
        button,a{display:inline-block;font:inherit;padding:.6rem 1.2rem;border:0;border-radius:.4rem;color:#fff;
        background:#065f46;min-height:44px;box-sizing:border-box}td:last-child{text-align:right}table{width:100%;margin-bottom:1rem}</style></head>
        <body><main><h1>$title</h1>$main</main></body></html>
        HTML;
}

function cartPage(): void
{
    $rows = '';
    foreach (CART as ['name' => $name, 'pieces' => $pieces, 'price' => $price]) {
        $rows .= "<tr><td>$pieces × $name</td><td>" . rupiah($pieces * $price) . '</td></tr>';
    }
    // The order's id is in the form, so that a second press of the button is the same order.
    $id = 'ORDER-' . bin2hex(random_bytes(8));
    $total = rupiah(total());
    page('Keranjang', "<table>$rows<tr><td>Jumlah</td><td>$total</td></tr></table><form method=\"post\" action=\"/orders\">"
        . "<input type=\"hidden\" name=\"order\" value=\"$id\"><button>Bayar</button></form>");
}

/** Opens the order and leads the customer to its payment page. */
function openOrder(): void
{
    $id = $_POST['order'] ?? '';
    if (!is_string($id) || !preg_match('/^ORDER-[0-9a-f]{16}$/D', $id)) {
        http_response_code(400);
        page('Pesanan tidak dikenal');
        return;
    }
    $lunas = new Lunas(
        getenv('LUNAS_URL') ?: 'http://127.0.0.1:8080',
        (string) getenv('LUNAS_API_KEY'),
        (string) getenv('LUNAS_PROJECT_ID'),
    );
    try {
        $link = $lunas->links->create(
            title: "Pesanan $id",
            amount: total(),
            reference: $id,
            return_url: (getenv('SHOP_URL') ?: 'http://127.0.0.1:3000') . "/orders/$id",
            idempotency_key: $id,
        );
    } catch (LunasError $error) {
        error_log("$error->code: {$error->getMessage()} ($error->requestId)");
        http_response_code(502);
        page('Coba lagi sebentar lagi');
        return;
    }
    kept(function (array &$data) use ($id, $link): void {
        $data['orders'][$id] ??= ['amount' => total(), 'url' => $link->url, 'paid' => false];
    });
    header("Location: $link->url", true, 303);
}

/** What the address says about the payment is not believed: only the webhook makes an order paid. */
function orderPage(string $id): void
{
    $order = kept(fn (array $data): ?array => $data['orders'][$id] ?? null);
    if ($order === null) {
        http_response_code(404);
        page('Pesanan tidak ditemukan');
        return;
    }
    $text = "Pesanan $id, " . rupiah($order['amount']);
    $order['paid']
        ? page('Lunas', "<p>Terima kasih. $text, sedang disiapkan.</p>")
        : page('Menunggu pembayaran', "<p>$text.</p><a href=\"{$order['url']}\">Bayar sekarang</a>", '<meta http-equiv="refresh" content="2">');
}

function receiveWebhook(): void
{
    $header = $_SERVER['HTTP_X_SERVICE_SIGNATURE'] ?? null;
    try {
        $event = verifyWebhook(file_get_contents('php://input'), $header, (string) getenv('LUNAS_WEBHOOK_SECRET'));
    } catch (LunasError $error) {
        error_log("a webhook was refused: $error->code");
        http_response_code(400);
        return;
    }
    kept(function (array &$data) use ($event): void {
        if (!isset($data['events'][$event->id]) && $event->type === 'payment.paid') {
            $order = $data['orders'][$event->data->reference] ?? null;
            if ($order !== null && $order['amount'] === $event->data->amount) {
                $data['orders'][$event->data->reference]['paid'] = true;
            }
        }
        $data['events'][$event->id] = true;
    });
    http_response_code(204);
}

$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
match (true) {
    "{$_SERVER['REQUEST_METHOD']} $path" === 'GET /' => cartPage(),
    "{$_SERVER['REQUEST_METHOD']} $path" === 'POST /orders' => openOrder(),
    "{$_SERVER['REQUEST_METHOD']} $path" === 'POST /hooks' => receiveWebhook(),
    (bool) preg_match('~^/orders/(ORDER-[0-9a-f]{16})$~D', $path, $found) => orderPage($found[1]),
    default => [http_response_code(404), page('Tidak ditemukan')],
};
