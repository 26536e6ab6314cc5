<?php

declare(strict_types=1);

namespace Lunas;

/** One request to the API, and its retries. Nothing here may put the API key into an error. */
final class Transport
{
    private const USER_AGENT = 'lunas-client-php/0.2.0';
    /** The only statuses that the API calls worth a retry. */
    private const RETRIED_STATUSES = [429, 500, 503];
    private const FIRST_BACKOFF_SECONDS = 0.5;
    private const BACKOFF_SECONDS_MOST = 8.0;
    private const READ_BYTES = 65_536;

    private readonly string $baseUrl;

    public function __construct(
        string $baseUrl,
        #[\SensitiveParameter] private readonly string $apiKey,
        private readonly string $language,
        private readonly float $timeoutSeconds,
        private readonly int $maxRetries,
        private readonly float $maxRetrySeconds,
    ) {
        if (!preg_match('/^sk_(test|live)_[0-9A-Za-z]+$/D', $apiKey)) {
            throw new \InvalidArgumentException('apiKey is not an API key: it begins with sk_test_ or sk_live_');
        }
        if (!preg_match('~^https?://[^@?#\s/]+(/[^@?#\s]*)?$~D', $baseUrl)) {
            throw new \InvalidArgumentException('baseUrl is not a plain http or https address');
        }
        $this->baseUrl = rtrim($baseUrl, '/');
    }

    /** Keeps the key out of var_dump() and of what error pages print. */
    public function __debugInfo(): array
    {
        return ['baseUrl' => $this->baseUrl];
    }

    /**
     * @param array<string, mixed> $query
     * @param ?array<string, mixed> $body
     * @return array<string, mixed>
     */
    public function send(
        string $method,
        string $path,
        array $query = [],
        ?array $body = null,
        ?string $idempotencyKey = null,
    ): array {
        // All attempts carry the same keys, so that the server knows them for one request.
        $requestId = self::randomKey();
        $headers = [
            "Authorization: Bearer {$this->apiKey}",
            'Accept: application/json',
            "Accept-Language: {$this->language}",
            "X-Request-Id: $requestId",
            'Connection: close',
        ];
        if ($idempotencyKey !== null) {
            if (!preg_match('/^[!-~]{1,255}$/D', $idempotencyKey)) {
                throw new \InvalidArgumentException('idempotencyKey is not 1 to 255 visible ASCII characters');
            }
            $headers[] = "Idempotency-Key: $idempotencyKey";
        }
        $options = ['method' => $method];
        if ($body !== null) {
            $headers[] = 'Content-Type: application/json';
            $options['content'] = json_encode((object) self::given($body), JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE);
        }
        $search = http_build_query(self::given($query));
        $url = $this->baseUrl . $path . ($search === '' ? '' : "?$search");
        // Without an answer nobody knows whether the request acted. A POST without an idempotency key might act twice.
        $repeatable = $method !== 'POST' || $idempotencyKey !== null;
        return $this->retry(fn (): array => $this->attempt($url, $options + ['header' => $headers], $requestId), $repeatable);
    }

    public static function randomKey(): string
    {
        return bin2hex(random_bytes(16));
    }

    /** @param callable(): array<string, mixed> $attempt */
    private function retry(callable $attempt, bool $repeatable): array
    {
        $lastStart = self::now() + $this->maxRetrySeconds;
        for ($retry = 0; ; $retry++) {
            try {
                return $attempt();
            } catch (LunasError $error) {
                $wait = self::backoffSeconds($retry, $error->retryAfter);
                $unanswered = $error->status === null && $repeatable;
                $retried = in_array($error->status, self::RETRIED_STATUSES, true) || $unanswered;
                if (!$retried || $retry >= $this->maxRetries || self::now() + $wait > $lastStart) {
                    throw $error;
                }
                usleep((int) ($wait * 1_000_000));
            }
        }
    }

    /**
     * @param array<string, mixed> $options
     * @return array<string, mixed>
     */
    private function attempt(string $url, array $options, string $requestId): array
    {
        $deadline = self::now() + $this->timeoutSeconds;
        // A redirect is not followed: the key is for this server alone.
        $context = stream_context_create(['http' => $options + [
            'timeout' => $this->timeoutSeconds,
            'follow_location' => 0,
            'ignore_errors' => true,
            'protocol_version' => 1.1,
            'user_agent' => self::USER_AGENT,
        ]]);
        error_clear_last();
        $stream = @fopen($url, 'r', false, $context);
        if ($stream === false) {
            throw $this->unanswered($deadline, $requestId, error_get_last()['message'] ?? 'the connection failed');
        }
        try {
            $text = '';
            while (!feof($stream)) {
                stream_set_timeout($stream, 0, (int) (1_000_000 * max(0.001, $deadline - self::now())));
                $piece = fread($stream, self::READ_BYTES);
                if ($piece === false || self::now() >= $deadline) {
                    throw $this->unanswered($deadline, $requestId, 'the connection was closed');
                }
                $text .= $piece;
            }
            return $this->read(stream_get_meta_data($stream)['wrapper_data'], $text, $requestId);
        } finally {
            fclose($stream);
        }
    }

    private function unanswered(float $deadline, string $requestId, string $reason): LunasError
    {
        // PHP counts milliseconds, and may stop a moment early.
        if (self::now() >= $deadline - 0.01) {
            return new LunasError('TIMEOUT', "no answer within {$this->timeoutSeconds} seconds", null, $requestId);
        }
        // PHP's own message names the address, then the reason.
        $reason = preg_replace('/^fopen\(.*?\): /', '', $reason);
        return new LunasError('CONNECTION_LOST', "no answer: $reason", null, $requestId);
    }

    /**
     * @param list<string> $lines the status line and the headers
     * @return array<string, mixed>
     */
    private function read(array $lines, string $text, string $requestId): array
    {
        $status = (int) (explode(' ', array_shift($lines))[1] ?? 0);
        $headers = [];
        foreach ($lines as $line) {
            [$name, $value] = array_pad(explode(':', $line, 2), 2, '');
            $headers[strtolower($name)] = trim($value);
        }
        if (strlen($text) < (int) ($headers['content-length'] ?? 0)) {
            throw new LunasError('CONNECTION_LOST', 'no answer: it ended early', null, $requestId);
        }
        $json = json_decode($text, true);
        if ($status >= 200 && $status < 300 && is_array($json)) {
            return $json;
        }
        $requestId = $headers['x-request-id'] ?? $requestId;
        $asked = $headers['retry-after'] ?? '';
        $retryAfter = preg_match('/^[0-9]{1,9}$/D', $asked) ? (int) $asked : null;
        $code = $json['error']['code'] ?? null;
        if (is_string($code)) {
            throw new LunasError($code, (string) ($json['error']['message'] ?? ''), $status, $requestId, $retryAfter);
        }
        $message = "status $status, but not an answer of Lunas";
        throw new LunasError('UNEXPECTED_ANSWER', $message, $status, $requestId, $retryAfter);
    }

    /**
     * @param array<string, mixed> $members
     * @return array<string, mixed>
     */
    private static function given(array $members): array
    {
        return array_filter($members, fn (mixed $value): bool => $value !== null);
    }

    /** Full jitter: callers that failed together do not come back together. Never sooner than the server asks for. */
    private static function backoffSeconds(int $retry, ?int $retryAfter): float
    {
        $longest = min(self::BACKOFF_SECONDS_MOST, self::FIRST_BACKOFF_SECONDS * 2 ** $retry);
        return ($retryAfter ?? 0) + $longest * random_int(0, 1_000_000) / 1_000_000;
    }

    /** Seconds of a clock that nobody sets. */
    private static function now(): float
    {
        return hrtime(true) / 1e9;
    }
}
