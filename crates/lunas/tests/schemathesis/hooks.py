"""What the contract asks for and JSON Schema cannot say, put right before a request is sent.

Otherwise a body that the schema allows would have to be accepted. That each of these is refused is tested in the
suite. Schemathesis judges the request anew after this, by what is really sent.
"""

import re
from collections import Counter
from datetime import datetime, timedelta, timezone

import schemathesis

NOW = datetime.now(timezone.utc)
YESTERDAY, TOMORROW = ((NOW + timedelta(days=days)).isoformat() for days in (-1, 1))
USED = Counter()
# The largest amount, one that every method takes, and one that every payment has.
MOST, FLOOR, LEAST = 999_999_999_999, 10_000, 100


@schemathesis.hook
def before_call(context, case, kwargs):
    vary_idempotency_key(case)
    if isinstance(case.query, dict) and isinstance(case.query.get("at"), str):
        case.query["at"] = in_past(case.query["at"])
    if isinstance(case.query, dict):
        in_order(case.query)
    if not isinstance(case.body, dict):
        return
    body = dict(case.body)
    for name in {"amount", "expires_in_minutes", "quantity_max", "amount_min", "amount_max"} & body.keys():
        body[name] = whole(body[name])
    for name in {"expires_at", "paid_at"} & body.keys():
        if isinstance(body[name], str):
            body[name] = in_future(body[name])
    if isinstance(body.get("allowed_payment_methods"), list):
        body["allowed_payment_methods"] = distinct(body["allowed_payment_methods"])
    if isinstance(body.get("return_url"), str) and re.match("https?://", body["return_url"], re.IGNORECASE):
        body["return_url"] = "https://shop.example/return"
    if case.operation.path == "/v1/payment-links":
        with_one_price(body)
    # More than the payment's money cannot be given back; what is too much even for the schema stays.
    if case.operation.path.endswith("/refunds") and type(body.get("amount")) is int and body["amount"] <= MOST:
        body["amount"] = min(body["amount"], LEAST)
    # The money of the receipt is not the payment's amount, which has to be said.
    if case.operation.path.endswith("/accept") and body.get("accept_difference") in (None, False):
        body["accept_difference"] = True
    # Not `!=`, to which 1000 and 1000.0 are equal.
    if repr(body) != repr(case.body):
        case.body = body


def vary_idempotency_key(case):
    """A key that was used hides every later check behind 409, so most repeats of one get a new one."""
    place = getattr(case.meta.phase.data, "parameter_location", None) if case.meta else None
    if place is not None and place.name == "HEADER":
        return  # This request is about a wrong or missing header.
    key = (case.headers or {}).get("Idempotency-Key")
    if isinstance(key, str) and 0 < len(key) < 240 and key.isascii():
        USED[key] += 1
        if USED[key] % 4 != 1:
            case.headers["Idempotency-Key"] = f"{key}-{USED[key]}"


def whole(value):
    """JSON Schema takes 1000.0 for an integer; the contract refuses it, as money is never a float."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def with_one_price(body):
    """A link has an amount, which may be for each piece, or a range of amounts that its methods take."""
    names = ("amount", "quantity_max", "amount_min", "amount_max")
    if not all(type(body.get(name)) in (int, type(None)) for name in names):
        return  # The schema itself refuses these.
    amount, quantity, least, most = (body.get(name) for name in names)
    if least is None and most is None and amount is not None:
        if quantity is not None and 2 <= quantity <= 99 and 100 <= amount <= MOST:
            body["amount"] = max(FLOOR, min(amount, MOST // quantity))
        return
    for name in names:
        body.pop(name, None)
    if least is None or most is None:
        body["amount"] = FLOOR
    else:
        body["amount_min"] = max(least, FLOOR) if 100 <= least <= MOST else least
        body["amount_max"] = max(most, body["amount_min"]) if 100 <= most <= MOST else most


def in_future(time):
    """A link cannot expire in the past, and no payment was paid before it was created."""
    return "2999" + time[4:] if time[:4].isdigit() and time < TOMORROW else time


def in_past(time):
    """Nobody knows a balance of the future."""
    return "2000" + time[4:] if time[:4].isdigit() and time > YESTERDAY else time


def in_order(query):
    """A range ends after it begins."""
    for name, year in (("created_from", "2000"), ("created_to", "2999")):
        time = query.get(name)
        if isinstance(time, str) and time[:4].isdigit():
            query[name] = year + time[4:]


def distinct(methods):
    """A link names each method once, and `virtual_account` without a bank names every bank."""
    if any(methods.count(entry) > 1 or not isinstance(entry, dict) for entry in methods):
        return methods  # The schema itself refuses these.
    kept, named = [], set()
    for entry in methods:
        method = (repr(entry.get("type")), repr(entry.get("bank")))
        every_bank = ("'virtual_account'", "None")
        overlaps = method[0] == every_bank[0] and (every_bank in named or (method == every_bank and named))
        if method not in named and not overlaps:
            kept.append(entry)
            named.add(method)
    return kept
