"""The one error of this client."""

from typing import Optional


class LunasError(Exception):
    """Every failure of this client.

    `code` is the API's own (`VALIDATION_ERROR`, …), or one of the client's: `TIMEOUT`, `CONNECTION_LOST`,
    `UNEXPECTED_ANSWER`, and `WEBHOOK_…` from `verify_webhook`.
    """

    def __init__(
        self,
        code: str,
        message: str,
        status: Optional[int] = None,
        request_id: Optional[str] = None,
        retry_after: Optional[int] = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status
        """The HTTP status; None if there was no answer."""
        self.request_id = request_id
        """By which the server's log knows the request."""
        self.retry_after = retry_after
        """After how many seconds the server asks to try again."""

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"
