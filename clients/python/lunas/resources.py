"""One method for each endpoint that an API key may use. Arguments have the names of the API."""

import uuid
from typing import Any, Callable, Iterator, List, Mapping, Optional, Set, cast
from urllib.parse import quote

from .transport import Transport
from .types import (
    AllowedMethod,
    Balance,
    BankListing,
    CustomerFieldsBody,
    Event,
    EventListing,
    EventType,
    GivenDestination,
    Metadata,
    MethodType,
    Outcome,
    Payment,
    PaymentLink,
    PaymentLinkListing,
    PaymentListing,
    PaymentMethod,
    PaymentStatus,
    Receipt,
    ReceiptListing,
    ReceiptState,
    Refund,
    RefundListing,
    RefundOutcome,
    RefundStatus,
    RevokedApiKey,
)

PAGE_SIZE_MOST = 100


class Resource:
    def __init__(self, transport: Transport, project_id: Optional[str]) -> None:
        self._transport = transport
        self._project_id = project_id

    def _get(self, path: str, **query: Any) -> Any:
        return self._transport.send("GET", path, query=query)

    def _create(self, path: str, idempotency_key: Optional[str], project_id: Optional[str], **body: Any) -> Any:
        body["project_id"] = project_id or self._project_id
        return self._transport.send("POST", path, body=body, idempotency_key=idempotency_key or str(uuid.uuid4()))


def _path(folder: str, id: str, action: str = "") -> str:
    return f"/v1/{folder}/{quote(id, safe='')}{action}"


def _all_pages(read_page: Callable[[int], Mapping[str, Any]]) -> Iterator[Any]:
    previous: Set[str] = set()
    page, pages = 1, 1
    while page <= pages:
        listing = read_page(page)
        # What was created meanwhile has moved the end of the previous page into this one.
        yield from (item for item in listing["data"] if item["id"] not in previous)
        previous = {item["id"] for item in listing["data"]}
        page, pages = page + 1, listing["pagination"]["total_pages"]


class Payments(Resource):
    def create(
        self,
        *,
        reference: str,
        amount: int,
        payment_method: PaymentMethod,
        expires_in_minutes: Optional[int] = None,
        metadata: Optional[Metadata] = None,
        return_url: Optional[str] = None,
        project_id: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Payment:
        """Without an `idempotency_key` the client generates one; give your own to repeat a create after a restart."""
        payment = self._create(
            "/v1/payments",
            idempotency_key,
            project_id,
            reference=reference,
            amount=amount,
            payment_method=payment_method,
            expires_in_minutes=expires_in_minutes,
            metadata=metadata,
            return_url=return_url,
        )
        return cast(Payment, payment)

    def list(
        self,
        *,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        search: Optional[str] = None,
        q: Optional[str] = None,
        payment_link_id: Optional[str] = None,
        status: Optional[PaymentStatus] = None,
        method: Optional[MethodType] = None,
        created_from: Optional[str] = None,
        created_to: Optional[str] = None,
    ) -> PaymentListing:
        listing = self._get(
            "/v1/payments",
            page=page,
            page_size=page_size,
            search=search,
            q=q,
            payment_link_id=payment_link_id,
            status=status,
            method=method,
            created_from=created_from,
            created_to=created_to,
        )
        return cast(PaymentListing, listing)

    def all(
        self,
        *,
        search: Optional[str] = None,
        q: Optional[str] = None,
        payment_link_id: Optional[str] = None,
        status: Optional[PaymentStatus] = None,
        method: Optional[MethodType] = None,
        created_from: Optional[str] = None,
        created_to: Optional[str] = None,
    ) -> Iterator[Payment]:
        return _all_pages(
            lambda page: self.list(
                page=page,
                page_size=PAGE_SIZE_MOST,
                search=search,
                q=q,
                payment_link_id=payment_link_id,
                status=status,
                method=method,
                created_from=created_from,
                created_to=created_to,
            )
        )

    def get(self, id: str) -> Payment:
        return cast(Payment, self._get(_path("payments", id)))


class Refunds(Resource):
    """Money back to customers."""

    def create(
        self,
        payment_id: str,
        *,
        amount: Optional[int] = None,
        reason: Optional[str] = None,
        destination: Optional[GivenDestination] = None,
        metadata: Optional[Metadata] = None,
        idempotency_key: Optional[str] = None,
    ) -> Refund:
        """Gives back all that is left, or `amount`. Needs a key with the right `refunds`."""
        body = {"amount": amount, "reason": reason, "destination": destination, "metadata": metadata}
        path, key = _path("payments", payment_id, "/refunds"), idempotency_key or str(uuid.uuid4())
        return cast(Refund, self._transport.send("POST", path, body=body, idempotency_key=key))

    def list(
        self,
        *,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        payment_id: Optional[str] = None,
        status: Optional[RefundStatus] = None,
        created_from: Optional[str] = None,
        created_to: Optional[str] = None,
    ) -> RefundListing:
        filters = {"payment_id": payment_id, "status": status, "created_from": created_from, "created_to": created_to}
        return cast(RefundListing, self._get("/v1/refunds", page=page, page_size=page_size, **filters))

    def all(
        self,
        *,
        payment_id: Optional[str] = None,
        status: Optional[RefundStatus] = None,
        created_from: Optional[str] = None,
        created_to: Optional[str] = None,
    ) -> Iterator[Refund]:
        return _all_pages(
            lambda page: self.list(
                page=page,
                page_size=PAGE_SIZE_MOST,
                payment_id=payment_id,
                status=status,
                created_from=created_from,
                created_to=created_to,
            )
        )

    def get(self, id: str) -> Refund:
        return cast(Refund, self._get(_path("refunds", id)))

    def cancel(self, id: str) -> Refund:
        """Works until something was sent. Needs a key with the right `refunds`."""
        return cast(Refund, self._transport.send("POST", _path("refunds", id, "/cancel")))


class Banks(Resource):
    """The banks that refunds by transfer reach."""

    def list(self, *, page: Optional[int] = None, page_size: Optional[int] = None) -> BankListing:
        return cast(BankListing, self._get("/v1/banks", page=page, page_size=page_size))


class Links(Resource):
    def create(
        self,
        *,
        title: str,
        amount: Optional[int] = None,
        quantity_max: Optional[int] = None,
        amount_min: Optional[int] = None,
        amount_max: Optional[int] = None,
        reference: Optional[str] = None,
        description: Optional[str] = None,
        expires_at: Optional[str] = None,
        allowed_payment_methods: Optional[List[AllowedMethod]] = None,
        allow_multiple_payments: Optional[bool] = None,
        customer_fields: Optional[CustomerFieldsBody] = None,
        metadata: Optional[Metadata] = None,
        return_url: Optional[str] = None,
        project_id: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> PaymentLink:
        """`amount` is required, unless `amount_min` and `amount_max` are given."""
        link = self._create(
            "/v1/payment-links",
            idempotency_key,
            project_id,
            title=title,
            amount=amount,
            quantity_max=quantity_max,
            amount_min=amount_min,
            amount_max=amount_max,
            reference=reference,
            description=description,
            expires_at=expires_at,
            allowed_payment_methods=allowed_payment_methods,
            allow_multiple_payments=allow_multiple_payments,
            customer_fields=customer_fields,
            metadata=metadata,
            return_url=return_url,
        )
        return cast(PaymentLink, link)

    def list(
        self,
        *,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        search: Optional[str] = None,
        created_from: Optional[str] = None,
        created_to: Optional[str] = None,
    ) -> PaymentLinkListing:
        filters = {"search": search, "created_from": created_from, "created_to": created_to}
        return cast(PaymentLinkListing, self._get("/v1/payment-links", page=page, page_size=page_size, **filters))

    def all(
        self, *, search: Optional[str] = None, created_from: Optional[str] = None, created_to: Optional[str] = None
    ) -> Iterator[PaymentLink]:
        return _all_pages(
            lambda page: self.list(
                page=page,
                page_size=PAGE_SIZE_MOST,
                search=search,
                created_from=created_from,
                created_to=created_to,
            )
        )

    def get(self, id: str) -> PaymentLink:
        return cast(PaymentLink, self._get(_path("payment-links", id)))

    def cancel(self, id: str) -> PaymentLink:
        """Cancels the link and its pending payments."""
        return cast(PaymentLink, self._transport.send("POST", _path("payment-links", id, "/cancel")))


class Balances(Resource):
    def get(self, *, at: Optional[str] = None) -> Balance:
        """The balance now, or at an instant that has passed."""
        return cast(Balance, self._get("/v1/balance", at=at))


class Receipts(Resource):
    """Money that fits no payment, held until somebody decides about it."""

    def list(
        self,
        *,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        state: Optional[ReceiptState] = None,
        payment_id: Optional[str] = None,
        created_from: Optional[str] = None,
        created_to: Optional[str] = None,
    ) -> ReceiptListing:
        """`created_from` and `created_to` are compared with `received_at`."""
        filters = {"state": state, "payment_id": payment_id, "created_from": created_from, "created_to": created_to}
        return cast(ReceiptListing, self._get("/v1/receipts", page=page, page_size=page_size, **filters))

    def all(
        self,
        *,
        state: Optional[ReceiptState] = None,
        payment_id: Optional[str] = None,
        created_from: Optional[str] = None,
        created_to: Optional[str] = None,
    ) -> Iterator[Receipt]:
        return _all_pages(
            lambda page: self.list(
                page=page,
                page_size=PAGE_SIZE_MOST,
                state=state,
                payment_id=payment_id,
                created_from=created_from,
                created_to=created_to,
            )
        )

    def get(self, id: str) -> Receipt:
        return cast(Receipt, self._get(_path("receipts", id)))

    def accept(
        self, id: str, *, note: str, payment_id: Optional[str] = None, accept_difference: Optional[bool] = None
    ) -> Receipt:
        """Needs a key with the right `held-money`."""
        body = {"note": note, "payment_id": payment_id, "accept_difference": accept_difference}
        return cast(Receipt, self._transport.send("POST", _path("receipts", id, "/accept"), body=body))

    def return_(self, id: str, *, note: str, destination: Optional[GivenDestination] = None) -> Receipt:
        """Needs a key with the right `held-money`; to have the money sent to a `destination`, `refunds` too."""
        body = {"note": note, "destination": destination}
        return cast(Receipt, self._transport.send("POST", _path("receipts", id, "/return"), body=body))


class Events(Resource):
    def list(
        self,
        *,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        type: Optional[EventType] = None,
        after: Optional[str] = None,
        created_from: Optional[str] = None,
        created_to: Optional[str] = None,
    ) -> EventListing:
        """With `after`, only what followed that event, oldest first."""
        filters = {"type": type, "after": after, "created_from": created_from, "created_to": created_to}
        return cast(EventListing, self._get("/v1/events", page=page, page_size=page_size, **filters))

    def all(
        self,
        *,
        type: Optional[EventType] = None,
        after: Optional[str] = None,
        created_from: Optional[str] = None,
        created_to: Optional[str] = None,
    ) -> Iterator[Event]:
        return _all_pages(
            lambda page: self.list(
                page=page,
                page_size=PAGE_SIZE_MOST,
                type=type,
                after=after,
                created_from=created_from,
                created_to=created_to,
            )
        )

    def get(self, id: str) -> Event:
        return cast(Event, self._get(_path("events", id)))


class Keys(Resource):
    def revoke(self, id: str) -> RevokedApiKey:
        """A key may always revoke itself; to revoke another it needs the right `payments`."""
        return cast(RevokedApiKey, self._transport.send("DELETE", _path("api-keys", id)))


class Sandbox(Resource):
    def simulate(
        self,
        payment_id: str,
        *,
        outcome: Outcome,
        amount: Optional[int] = None,
        paid_at: Optional[str] = None,
        receipt_id: Optional[str] = None,
    ) -> Payment:
        """Does what a bank's notification does."""
        body = {"outcome": outcome, "amount": amount, "paid_at": paid_at, "receipt_id": receipt_id}
        return cast(Payment, self._transport.send("POST", _path("sandbox/payments", payment_id, "/simulate"), body=body))

    def simulate_refund(self, refund_id: str, *, outcome: RefundOutcome) -> Refund:
        """Does what the answer of a bank does."""
        path = _path("sandbox/refunds", refund_id, "/simulate")
        return cast(Refund, self._transport.send("POST", path, body={"outcome": outcome}))
