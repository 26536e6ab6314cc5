"""Runs the code in the README and in docs/clients.md as it is written, against a running sandbox.

LUNAS_URL, LUNAS_API_KEY, LUNAS_PROJECT_ID, LUNAS_WEBHOOK_SECRET: the server and its project.
"""

import hashlib
import hmac
import json
import os
import pathlib
import re
import sys
import time

CLIENT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(CLIENT))

EVENT = {"id": "evt_1", "type": "payment.paid", "data": {"reference": "ORDER-1"}}
raw_body = json.dumps(EVENT).encode()
now = int(time.time())
signed = hmac.new(os.environ["LUNAS_WEBHOOK_SECRET"].encode(), f"{now}.".encode() + raw_body, hashlib.sha256).hexdigest()
headers = {"X-Service-Signature": f"t={now},v1={signed}"}


def run(document):
    """Runs a document's blocks as one program, and returns its names."""
    blocks = re.findall(r"^```python\n(.*?)^```$", document.read_text(), re.DOTALL | re.MULTILINE)
    assert blocks, f"{document} has code"
    names = {"raw_body": raw_body, "headers": headers}
    exec("\n".join(blocks), names)
    return names


readme = run(CLIENT / "README.md")
assert readme["link"]["url"].startswith("http")
assert readme["event"] == EVENT
guide = run(CLIENT.parent.parent / "docs/clients.md")
assert guide["payment_page"]("ORDER-1") == guide["payment_page"]("ORDER-1")
assert guide["paid_order"](raw_body, headers["X-Service-Signature"]) == "ORDER-1"
print("the documents' code runs")
