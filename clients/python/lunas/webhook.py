"""Whether a webhook is genuine."""

import hashlib
import hmac
import json
import re
import time
from typing import Optional, cast

from .errors import LunasError
from .types import Event


def verify_webhook(body: bytes, header: Optional[str], secret: str, *, tolerance_seconds: int = 300) -> Event:
    """The event in a webhook's body, if the project's secret signed it in the last minutes.

    Otherwise a `LunasError` whose code says why not. `body` is what the request carried, before any JSON parser has seen it.
    """
    if not isinstance(body, (bytes, bytearray)):
        raise TypeError("body is not the raw bytes of the request")
    if not secret:
        raise ValueError("secret is empty")
    if not header:
        raise LunasError("WEBHOOK_HEADER_MISSING", "the request has no signature")
    parts = [part.strip().partition("=") for part in header.split(",")]
    signed_at = next((value for name, _, value in parts if name == "t"), "")
    given = [value.encode() for name, _, value in parts if name == "v1"]
    if not re.fullmatch("[0-9]{1,12}", signed_at) or not given:
        raise LunasError("WEBHOOK_HEADER_MALFORMED", "the header is not `t=<seconds>,v1=<signature>`")
    expected = hmac.new(secret.encode(), signed_at.encode() + b"." + body, hashlib.sha256).hexdigest().encode()
    # While a secret is replaced there are two signatures, and either will do.
    if not any([hmac.compare_digest(value, expected) for value in given]):
        raise LunasError("WEBHOOK_SIGNATURE_MISMATCH", "signed with another secret, or not the bytes that were sent")
    age_seconds = int(time.time()) - int(signed_at)
    if age_seconds > tolerance_seconds:
        raise LunasError("WEBHOOK_TOO_OLD", f"signed {age_seconds} seconds ago")
    if -age_seconds > tolerance_seconds:
        raise LunasError("WEBHOOK_FROM_THE_FUTURE", f"signed {-age_seconds} seconds ahead of this clock")
    try:
        return cast(Event, json.loads(body))
    except ValueError:
        raise LunasError("WEBHOOK_NOT_JSON", "the signature is valid, but the body is not JSON") from None
