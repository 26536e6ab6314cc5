"""One request to the API, and its retries. Nothing here may put the API key into an error."""

import json
import random
import re
import socket
import time
import uuid
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any, Dict, Mapping, NamedTuple, Optional, Tuple
from urllib.parse import urlencode, urlsplit

from .errors import LunasError

USER_AGENT = "lunas-client-python/0.2.0"
# The only statuses that the API calls worth a retry.
RETRIED_STATUSES = (429, 500, 503)
FIRST_BACKOFF_SECONDS = 0.5
BACKOFF_SECONDS_MOST = 8.0
READ_BYTES = 65_536


class Request(NamedTuple):
    method: str
    path: str
    headers: Dict[str, str]
    body: Optional[bytes]
    # Without an answer nobody knows whether the request acted. A POST without an idempotency key might act twice.
    repeatable: bool


class Transport:
    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        language: str,
        timeout_seconds: float,
        max_retries: int,
        max_retry_seconds: float,
    ) -> None:
        if not re.fullmatch("sk_(test|live)_[0-9A-Za-z]+", api_key or ""):
            raise ValueError("api_key is not an API key: it begins with sk_test_ or sk_live_")
        url = urlsplit(base_url)
        if url.scheme not in ("http", "https") or not url.hostname or "@" in url.netloc or url.query or url.fragment:
            raise ValueError("base_url is not a plain http or https address")
        self._api_key = api_key
        self._url = url
        self._language = language
        self._timeout_seconds = timeout_seconds
        self._max_retries = max_retries
        self._max_retry_seconds = max_retry_seconds

    def send(
        self,
        method: str,
        path: str,
        *,
        query: Optional[Mapping[str, Any]] = None,
        body: Optional[Mapping[str, Any]] = None,
        idempotency_key: Optional[str] = None,
    ) -> Any:
        headers = {
            "Authorization": f"Bearer {self._api_key}",
            "Accept": "application/json",
            "Accept-Language": self._language,
            "User-Agent": USER_AGENT,
            "X-Request-Id": str(uuid.uuid4()),
        }
        if body is not None:
            headers["Content-Type"] = "application/json"
        if idempotency_key is not None:
            if not re.fullmatch("[!-~]{1,255}", idempotency_key):
                raise ValueError("idempotency_key is not 1 to 255 visible ASCII characters")
            headers["Idempotency-Key"] = idempotency_key
        search = urlencode(_given(query or {}))
        # All attempts carry the same keys, so that the server knows them for one request.
        request = Request(
            method,
            self._url.path.rstrip("/") + path + (f"?{search}" if search else ""),
            headers,
            None if body is None else json.dumps(_given(body)).encode(),
            method != "POST" or idempotency_key is not None,
        )
        return self._retry(request)

    def _retry(self, request: Request) -> Any:
        last_start = time.monotonic() + self._max_retry_seconds
        retry = 0
        while True:
            try:
                return self._attempt(request)
            except LunasError as error:
                wait = _backoff_seconds(retry, error.retry_after)
                unanswered = error.status is None and request.repeatable
                retried = error.status in RETRIED_STATUSES or unanswered
                if not retried or retry >= self._max_retries or time.monotonic() + wait > last_start:
                    raise
            time.sleep(wait)
            retry += 1

    def _attempt(self, request: Request) -> Any:
        kind = HTTPSConnection if self._url.scheme == "https" else HTTPConnection
        connection = kind(self._url.hostname or "", self._url.port, timeout=self._timeout_seconds)
        request_id = request.headers["X-Request-Id"]
        try:
            # http.client follows no redirects: the key is for this server alone.
            answer, text = self._exchange(connection, request)
        except socket.timeout:
            raise LunasError("TIMEOUT", f"no answer within {self._timeout_seconds} seconds", None, request_id) from None
        except (OSError, HTTPException) as error:
            raise LunasError("CONNECTION_LOST", f"no answer: {error!r}", None, request_id) from None
        finally:
            connection.close()
        return _read(answer, text, request_id)

    def _exchange(self, connection: HTTPConnection, request: Request) -> Tuple[HTTPResponse, bytes]:
        deadline = time.monotonic() + self._timeout_seconds
        connection.request(request.method, request.path, request.body, request.headers)
        sock = connection.sock
        sock.settimeout(_left(deadline))
        answer = connection.getresponse()
        expected = answer.length
        text = b""
        more = True
        while more and not answer.isclosed():
            sock.settimeout(_left(deadline))
            piece = answer.read1(READ_BYTES)
            text += piece
            more = piece != b""
        if expected is not None and len(text) < expected:
            raise HTTPException("the answer ended early")
        return answer, text


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise socket.timeout
    return left


def _read(answer: HTTPResponse, text: bytes, request_id: str) -> Any:
    try:
        decoded = json.loads(text)
    except ValueError:
        decoded = None
    if 200 <= answer.status < 300 and decoded is not None:
        return decoded
    request_id = answer.headers.get("X-Request-Id", request_id)
    asked = answer.headers.get("Retry-After", "")
    retry_after = int(asked) if re.fullmatch("[0-9]{1,9}", asked) else None
    error = decoded.get("error") if isinstance(decoded, dict) else None
    if isinstance(error, dict) and isinstance(error.get("code"), str):
        raise LunasError(error["code"], str(error.get("message")), answer.status, request_id, retry_after)
    message = f"status {answer.status}, but not an answer of Lunas"
    raise LunasError("UNEXPECTED_ANSWER", message, answer.status, request_id, retry_after)


def _given(members: Mapping[str, Any]) -> Dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}


def _backoff_seconds(retry: int, retry_after: Optional[int]) -> float:
    """Full jitter: callers that failed together do not come back together. Never sooner than the server asks for."""
    longest = min(BACKOFF_SECONDS_MOST, FIRST_BACKOFF_SECONDS * 2.0**retry)
    return (retry_after or 0) + random.uniform(0, longest)
