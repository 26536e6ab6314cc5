<?php

/**
 * Holds the client against the OpenAPI document of a running server, LUNAS_URL: methods, parameters, members, and which of them
 * may be missing.
 */

declare(strict_types=1);

require __DIR__ . '/../autoload.php';

use Lunas\{Balances, Banks, Events, Keys, Links, Payments, Receipts, Refunds, Sandbox};

const METHODS = [
    'createPayment' => [Payments::class, 'create'],
    'listPayments' => [Payments::class, 'list'],
    'getPayment' => [Payments::class, 'get'],
    'createRefund' => [Refunds::class, 'create'],
    'listRefunds' => [Refunds::class, 'list'],
    'getRefund' => [Refunds::class, 'get'],
    'cancelRefund' => [Refunds::class, 'cancel'],
    'listBanks' => [Banks::class, 'list'],
    'createPaymentLink' => [Links::class, 'create'],
    'listPaymentLinks' => [Links::class, 'list'],
    'getPaymentLink' => [Links::class, 'get'],
    'cancelPaymentLink' => [Links::class, 'cancel'],
    'getBalance' => [Balances::class, 'get'],
    'listReceipts' => [Receipts::class, 'list'],
    'getReceipt' => [Receipts::class, 'get'],
    'acceptReceipt' => [Receipts::class, 'accept'],
    'returnReceipt' => [Receipts::class, 'return'],
    'listEvents' => [Events::class, 'list'],
    'getEvent' => [Events::class, 'get'],
    'revokeApiKey' => [Keys::class, 'revoke'],
    'simulatePayment' => [Sandbox::class, 'simulate'],
    'simulateRefund' => [Sandbox::class, 'simulateRefund'],
];
/** For people who are signed in; a key gets 403. */
const SESSION_ONLY = ['listApiKeys', 'createApiKey', 'getProject', 'listAuditLines'];

$document = json_decode(file_get_contents(getenv('LUNAS_URL') . '/openapi.json'), true);
$schemas = $document['components']['schemas'];

/** @return array<string, true> the names of schemas that an answer can contain */
function reached(mixed $schema, array $schemas, array $found): array
{
    preg_match_all('~#/components/schemas/(\w+)~', json_encode($schema, JSON_UNESCAPED_SLASHES), $names);
    foreach ($names[1] as $name) {
        if (!isset($found[$name])) {
            $found = reached($schemas[$name], $schemas, $found + [$name => true]);
        }
    }
    return $found;
}

function parameters(string $class, string $method, bool $optional = false): array
{
    $all = (new ReflectionMethod($class, $method))->getParameters();
    return array_column($optional ? array_filter($all, fn (ReflectionParameter $one) => $one->isOptional()) : $all, 'name');
}

function has(array $known, array $wanted, string $what): void
{
    $missing = array_diff($wanted, $known);
    $missing === [] || throw new Exception("$what lacks " . implode(', ', $missing));
}

$paths = array_filter($document['paths'], fn (string $path): bool => str_starts_with($path, '/v1/'), ARRAY_FILTER_USE_KEY);
$operations = array_merge(...array_map(array_values(...), array_values($paths)));
$operations = array_filter($operations, fn (array $one): bool => !in_array($one['operationId'], SESSION_ONLY, true));
$names = array_column($operations, 'operationId');
has(array_keys(METHODS), $names, 'the client');
has($names, array_keys(METHODS), 'the document');
$answers = [];
foreach ($operations as $operation) {
    $name = $operation['operationId'];
    $sent = parameters(...METHODS[$name]);
    $query = array_filter($operation['parameters'] ?? [], fn (array $one): bool => ($one['in'] ?? '') === 'query');
    // A key names its project already.
    has($sent, array_diff(array_column($query, 'name'), ['project_id']), $name);
    if (isset($operation['requestBody'])) {
        $schema = basename($operation['requestBody']['content']['application/json']['schema']['$ref']);
        has($sent, array_keys($schemas[$schema]['properties']), $name);
    }
    foreach ($operation['responses'] as $status => $answer) {
        if (intdiv((int) $status, 100) === 2) {
            $answers = reached($answer['content']['application/json']['schema'], $schemas, $answers);
        }
    }
}
foreach (array_keys($answers) as $name) {
    $shapes = [$schemas[$name], ...$schemas[$name]['oneOf'] ?? []];
    $members = array_merge(...array_map(fn (array $shape): array => array_keys($shape['properties'] ?? []), $shapes));
    if ($members !== []) {
        $class = 'Lunas\\' . strtok($name, '_');
        has(class_exists($class) ? parameters($class, '__construct') : [], $members, $name);
        $required = array_merge(...array_map(fn (array $shape): array => $shape['required'] ?? [], $shapes));
        has(parameters($class, '__construct', optional: true), array_diff($members, $required), "what may be missing of $name");
    }
}
echo count($operations), ' operations and ', count($answers), " schemas are in the client\n";
