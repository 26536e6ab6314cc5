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
PaymentEventType = Literal["payment.paid", "payment.failed", "payment.expired", "payment.cancelled", "payment.held"]
EventType = Literal[PaymentEventType, Literal["apikey.deleted"]]
# `succeeded` in place of `paid` where the project chose that word.
PaymentStatus = Literal["pending", "processing", "paid", "succeeded", "failed", "expired", "cancelled"]
PaymentLinkStatus = Literal["active", "cancelled", "inactive"]
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
    as_of: str


class ReceiptDecision(TypedDict):
    payment_id: Optional[str]
    difference: Optional[int]
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


class ApiKeyEvent(TypedDict):
    id: str
    type: Literal["apikey.deleted"]
    created_at: str
    data: RevokedApiKey


Event = Union[PaymentEvent, ApiKeyEvent]


class PaymentListing(TypedDict):
    data: List[Payment]
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
