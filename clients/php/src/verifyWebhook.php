<?php

declare(strict_types=1);

namespace Lunas;

/**
 * The event in a webhook's body, if the project's secret signed it in the last minutes; otherwise a LunasError whose code says
 * why not. $body is file_get_contents('php://input'), and $header is $_SERVER['HTTP_X_SERVICE_SIGNATURE'] ?? null.
 */
function verifyWebhook(
    string $body,
    ?string $header,
    #[\SensitiveParameter] string $secret,
    int $toleranceSeconds = 300,
): Event {
    if ($secret === '') {
        throw new \InvalidArgumentException('secret is empty');
    }
    if ($header === null || $header === '') {
        throw new LunasError('WEBHOOK_HEADER_MISSING', 'the request has no signature');
    }
    $time = null;
    $given = [];
    foreach (explode(',', $header) as $part) {
        [$name, $value] = array_pad(explode('=', trim($part), 2), 2, '');
        if ($name === 't') {
            $time ??= $value;
        } elseif ($name === 'v1') {
            $given[] = $value;
        }
    }
    if (!preg_match('/^[0-9]{1,12}$/D', $time ?? '') || $given === []) {
        throw new LunasError('WEBHOOK_HEADER_MALFORMED', 'the header is not `t=<seconds>,v1=<signature>`');
    }
    $expected = hash_hmac('sha256', "$time.$body", $secret);
    // While a secret is replaced there are two signatures, and either will do.
    if (array_filter($given, fn (string $value): bool => hash_equals($expected, $value)) === []) {
        throw new LunasError('WEBHOOK_SIGNATURE_MISMATCH', 'signed with another secret, or not the bytes that were sent');
    }
    $ageSeconds = time() - (int) $time;
    if ($ageSeconds > $toleranceSeconds) {
        throw new LunasError('WEBHOOK_TOO_OLD', "signed $ageSeconds seconds ago");
    }
    if (-$ageSeconds > $toleranceSeconds) {
        throw new LunasError('WEBHOOK_FROM_THE_FUTURE', sprintf('signed %d seconds ahead of this clock', -$ageSeconds));
    }
    $event = json_decode($body, true);
    if (!is_array($event)) {
        throw new LunasError('WEBHOOK_NOT_JSON', 'the signature is valid, but the body is not JSON');
    }
    return Reader::read(Event::class, $event);
}
