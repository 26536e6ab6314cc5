"""A client for Lunas, the payment service that you run yourself."""

from typing import Optional

from .errors import LunasError
from .resources import Balances, Banks, Events, Keys, Links, Payments, Receipts, Refunds, Sandbox
from .transport import Transport
from .types import Language
from .webhook import verify_webhook

__all__ = ["Lunas", "LunasError", "verify_webhook"]


class Lunas:
    """One method for each endpoint that an API key may use. It may be shared by threads."""

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        project_id: Optional[str] = None,
        language: Language = "id",
        timeout_seconds: float = 30.0,
        max_retries: int = 4,
        max_retry_seconds: float = 60.0,
    ) -> None:
        transport = Transport(
            base_url,
            api_key,
            language=language,
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
            max_retry_seconds=max_retry_seconds,
        )
        self.payments = Payments(transport, project_id)
        self.refunds = Refunds(transport, project_id)
        self.banks = Banks(transport, project_id)
        self.links = Links(transport, project_id)
        self.balance = Balances(transport, project_id)
        self.receipts = Receipts(transport, project_id)
        self.events = Events(transport, project_id)
        self.keys = Keys(transport, project_id)
        self.sandbox = Sandbox(transport, project_id)
