<?php

/**
 * A server on loopback that gives the answers of a list, one for each request. Run by FakeServer: reads the list as JSON from
 * its input, prints its port, then a line of JSON for each request.
 *
 * An answer is [status, headers, body], or one of the words `lose` (no answer), `cut` (half of one) and `hang`.
 */

$answers = json_decode(fgets(STDIN), true);
$server = stream_socket_server('tcp://127.0.0.1:0');
echo parse_url('tcp://' . stream_socket_get_name($server, false), PHP_URL_PORT), "\n";
$held = [];
for ($count = 0; ; $count++) {
    $connection = stream_socket_accept($server, 60) ?: exit;
    $line = trim(fgets($connection));
    $headers = [];
    while (($header = trim(fgets($connection))) !== '') {
        [$name, $value] = explode(': ', $header, 2);
        $headers[strtolower($name)] = $value;
    }
    $length = (int) ($headers['content-length'] ?? 0);
    $body = $length > 0 ? stream_get_contents($connection, $length) : '';
    echo json_encode(['line' => $line, 'headers' => $headers, 'body' => $body]), "\n";
    $answer = $answers[min($count, count($answers) - 1)];
    if ($answer === 'hang') {
        $held[] = $connection;
        continue;
    }
    if ($answer !== 'lose') {
        [$status, $named, $text] = $answer === 'cut' ? [200, [], '{"id":1}'] : $answer;
        $named['Content-Length'] = strlen($text) + ($answer === 'cut' ? 1 : 0);
        $lines = array_map(fn (string $name, mixed $value): string => "$name: $value\r\n", array_keys($named), $named);
        fwrite($connection, "HTTP/1.1 $status Answer\r\n" . implode('', $lines) . "\r\n$text");
    }
    fclose($connection);
}
