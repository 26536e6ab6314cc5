"""What the API sends and takes. Amounts are whole rupiah, times are UTC like `2026-11-14T09:30:00.000Z`.

Members that are not always there are in a class of their own, `…Optional`, as Python 3.9 has no mark for single members.
"""

from typing import Dict, List, Literal, Optional, TypedDict, Union

BankCode = Literal[
    "bca", "bni", "bri", "mandiri", "permata", "cimb", "bsi", "danamon", "btn", "maybank", "bjb", "bnc", "bss"
]
Currency = Literal["IDR"]
Environment = Literal["sandbox", "production"]
FeeBearer = Literal["merchant"]
HeldReason = Literal["wrong_amount", "already_paid", "link_claimed", "too_late", "receipt_reused"]
Language = Literal["id", "en"]
Metadata = Dict[str, str]
MethodType = Literal["qris", "virtual_account"]
Outcome = Literal["paid", "failed", "processing", "expired"]
RefundOutcome = Literal["succeeded", "failed", "returned"]
PaymentEventType = Literal["payment.paid", "payment.failed", "payment.expired", "payment.cancelled", "payment.held"]
RefundEventType = Literal[
    "refund.requires_action", "refund.succeeded", "refund.failed", "refund.cancelled", "refund.returned"
]
EventType = Literal[PaymentEventType, RefundEventType, Literal["apikey.deleted"]]
# `succeeded` in place of `paid` where the project chose that word.
PaymentStatus = Literal["pending", "processing", "paid", "succeeded", "failed", "expired", "cancelled"]
PaymentLinkStatus = Literal["active", "cancelled", "inactive"]
Rail = Literal["intrabank", "bi_fast", "online", "skn", "rtgs", "wallet"]
PendingReason = Literal["awaiting_approval", "insufficient_balance", "processing"]
RefundRoad = Literal["qris", "transfer"]
RefundStatus = Literal["requires_action", "pending", "succeeded", "failed", "cancelled", "returned"]
ReceiptState = Literal["held", "accepted", "returned"]


class Qris(TypedDict):
    type: Literal["qris"]


class VirtualAccount(TypedDict):
    type: Literal["virtual_account"]
    bank: BankCode


class AnyVirtualAccount(TypedDict):
    """Every bank that the project offers."""

    type: Literal["virtual_account"]


PaymentMethod = Union[Qris, VirtualAccount]
AllowedMethod = Union[Qris, VirtualAccount, AnyVirtualAccount]


class Pagination(TypedDict):
    page: int
    page_size: int
    total_items: int
    total_pages: int


class QrisInstructions(TypedDict):
    qr_string: str
    qr_image_url: str  # a `data:` URL of a PNG


class VirtualAccountInstructions(TypedDict):
    bank_name: str
    virtual_account_number: str
    payment_steps: List[str]


Instructions = Union[QrisInstructions, VirtualAccountInstructions]


class Customer(TypedDict):
    name: str
    email: str
    phone: str
    address: str


class Location(TypedDict, total=False):
    ip: str
    country: str


class Device(TypedDict, total=False):
    type: Literal["desktop", "mobile", "tablet", "bot", "unknown"]
    os: str
    browser: str
    user_agent: str


class CheckoutContext(TypedDict):
    location: Location
    device: Device


class HeldReceipt(TypedDict):
    id: str
    amount: int
    reason: HeldReason
    paid_at: str


class PaymentOptional(TypedDict, total=False):
    metadata: Metadata
    quantity: int  # of links with `quantity_max`: how many; `amount` is for all of them
    return_url: str
    receipt: HeldReceipt  # in the event `payment.held`: the money


class Payment(PaymentOptional):
    id: str
    payment_link_id: Optional[str]
    project_id: str
    reference: str
    amount: int
    currency: Currency
    fee_bearer: FeeBearer
    fee_amount: int
    merchant_net: int
    refunded_amount: int  # what was given back of it
    status: PaymentStatus
    checkout_url: str
    payment_method: PaymentMethod
    instructions: Instructions
    customer: Customer
    checkout_context: CheckoutContext
    expires_at: str
    paid_at: Optional[str]
    created_at: str


class FeePreview(TypedDict):
    payment_method: PaymentMethod
    fee_amount: int
    customer_amount: int
    merchant_net: int


class CustomerFieldsBody(TypedDict, total=False):
    name: bool
    email: bool
    phone: bool
    address: bool


class CustomerFields(TypedDict):
    name: bool
    email: bool
    phone: bool
    address: bool


class PaymentLinkOptional(TypedDict, total=False):
    metadata: Metadata
    quantity_max: int
    amount_min: int
    amount_max: int
    return_url: str


class PaymentLink(PaymentLinkOptional):
    id: str
    project_id: str
    merchant_name: str
    reference: str
    title: str
    description: str
    amount: int  # 0 where the customer types it
    currency: Currency
    fee_bearer: FeeBearer
    fee_previews: List[FeePreview]
    allowed_payment_methods: List[PaymentMethod]
    allow_multiple_payments: bool
    customer_fields: CustomerFields
    status: PaymentLinkStatus
    created_at: str
    url: str  # the page that you pass on to your customer
    expires_at: Optional[str]


class Balance(TypedDict):
    project_id: str
    environment: Environment
    currency: Currency
    available: int
    pending: int
    unapplied: int
    refunding: int  # money of refunds that are under way
    as_of: str


class GivenDestinationOptional(TypedDict, total=False):
    account_name: Optional[str]


class GivenDestination(GivenDestinationOptional):
    bank: str  # the `code` of one of `banks.list()`
    account_number: str


class RefundDestination(TypedDict):
    bank: str
    last_four: str
    account_name: Optional[str]  # as the bank says it; None until it has


class Refund(TypedDict):
    id: str
    payment_id: Optional[str]  # None for held money that is returned
    receipt_id: Optional[str]  # the held money; None for a refund of a payment
    project_id: str
    amount: int
    currency: Currency
    status: RefundStatus
    pending_reason: Optional[PendingReason]
    road: RefundRoad
    reason: Optional[str]
    destination: Optional[RefundDestination]
    claim_url: Optional[str]  # only while it `requires_action`, and for keys with the right `refunds`
    bank_reference: Optional[str]
    failure_reason: Optional[str]
    metadata: Optional[Metadata]
    created_at: str
    updated_at: str
    succeeded_at: Optional[str]


class BankRail(TypedDict):
    """A way in which a transfer reaches a bank, and the amounts that it takes."""

    rail: Rail
    least: int
    most: int


class Bank(TypedDict):
    code: str
    name: str
    rails: List[BankRail]


class ReceiptDecision(TypedDict):
    payment_id: Optional[str]
    difference: Optional[int]
    refund_id: Optional[str]  # the refund that sends the money back
    note: str
    decided_by: Optional[str]
    decided_at: str


class Receipt(TypedDict):
    id: str
    project_id: str
    payment_id: str
    amount: int
    currency: Currency
    reason: HeldReason
    state: ReceiptState
    paid_at: str
    received_at: str
    decision: Optional[ReceiptDecision]  # None while the money is held


class RevokedApiKey(TypedDict):
    id: str
    name: str
    environment: Environment
    project_id: str
    key_prefix: Literal["sk_test_", "sk_live_"]
    revoked_at: str


class PaymentEvent(TypedDict):
    id: str
    type: PaymentEventType
    created_at: str
    data: Payment


class RefundEvent(TypedDict):
    id: str
    type: RefundEventType
    created_at: str
    data: Refund


class ApiKeyEvent(TypedDict):
    id: str
    type: Literal["apikey.deleted"]
    created_at: str
    data: RevokedApiKey


Event = Union[PaymentEvent, RefundEvent, ApiKeyEvent]


class PaymentListing(TypedDict):
    data: List[Payment]
    pagination: Pagination


class RefundListing(TypedDict):
    data: List[Refund]
    pagination: Pagination


class BankListing(TypedDict):
    data: List[Bank]
    pagination: Pagination


class PaymentLinkListing(TypedDict):
    data: List[PaymentLink]
    pagination: Pagination


class ReceiptListing(TypedDict):
    data: List[Receipt]
    pagination: Pagination


class EventListing(TypedDict):
    data: List[Event]
    pagination: Pagination
