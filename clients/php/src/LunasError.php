<?php

declare(strict_types=1);

namespace Lunas;

/**
 * Every failure of this client. `code` is the API's own (`VALIDATION_ERROR`, …), or one of the client's: `TIMEOUT`,
 * `CONNECTION_LOST`, `UNEXPECTED_ANSWER`, and `WEBHOOK_…` from `verifyWebhook`.
 */
final class LunasError extends \RuntimeException
{
    /** @var string The code; also what getCode() answers. */
    public $code;

    /**
     * @param ?int $status the HTTP status; null if there was no answer
     * @param ?string $requestId by which the server's log knows the request
     * @param ?int $retryAfter after how many seconds the server asks to try again
     */
    public function __construct(
        string $code,
        string $message,
        public readonly ?int $status = null,
        public readonly ?string $requestId = null,
        public readonly ?int $retryAfter = null,
    ) {
        parent::__construct($message);
        $this->code = $code;
    }
}
