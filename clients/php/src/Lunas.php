<?php

declare(strict_types=1);

namespace Lunas;

/** A client for Lunas: one method for each endpoint that an API key may use. */
final class Lunas
{
    public readonly Payments $payments;
    public readonly Refunds $refunds;
    public readonly Banks $banks;
    public readonly Links $links;
    public readonly Balances $balance;
    public readonly Receipts $receipts;
    public readonly Events $events;
    public readonly Keys $keys;
    public readonly Sandbox $sandbox;

    /**
     * @param string $baseUrl where Lunas is, for example `https://pay.example.com`
     * @param string $apiKey `sk_test_…` or `sk_live_…`
     * @param ?string $projectId sent as `project_id` of payments and links that name none
     * @param string $language of `payment_steps`: `id` or `en`
     * @param float $timeoutSeconds how long one attempt may take
     * @param int $maxRetries 0 turns retries off
     * @param float $maxRetrySeconds no retry starts later than this after the call
     */
    public function __construct(
        string $baseUrl,
        #[\SensitiveParameter] string $apiKey,
        ?string $projectId = null,
        string $language = 'id',
        float $timeoutSeconds = 30.0,
        int $maxRetries = 4,
        float $maxRetrySeconds = 60.0,
    ) {
        $transport = new Transport($baseUrl, $apiKey, $language, $timeoutSeconds, $maxRetries, $maxRetrySeconds);
        $this->payments = new Payments($transport, $projectId);
        $this->refunds = new Refunds($transport, $projectId);
        $this->banks = new Banks($transport, $projectId);
        $this->links = new Links($transport, $projectId);
        $this->balance = new Balances($transport, $projectId);
        $this->receipts = new Receipts($transport, $projectId);
        $this->events = new Events($transport, $projectId);
        $this->keys = new Keys($transport, $projectId);
        $this->sandbox = new Sandbox($transport, $projectId);
    }
}
