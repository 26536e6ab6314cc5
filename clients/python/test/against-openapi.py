"""Holds the client against the OpenAPI document of a running server, LUNAS_URL: methods, parameters and members."""

import inspect
import json
import os
import pathlib
import re
import sys
import typing
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from lunas import resources, types  # noqa: E402

METHODS = {
    "createPayment": resources.Payments.create,
    "listPayments": resources.Payments.list,
    "getPayment": resources.Payments.get,
    "createPaymentLink": resources.Links.create,
    "listPaymentLinks": resources.Links.list,
    "getPaymentLink": resources.Links.get,
    "cancelPaymentLink": resources.Links.cancel,
    "getBalance": resources.Balances.get,
    "listReceipts": resources.Receipts.list,
    "getReceipt": resources.Receipts.get,
    "acceptReceipt": resources.Receipts.accept,
    "returnReceipt": resources.Receipts.return_,
    "listEvents": resources.Events.list,
    "getEvent": resources.Events.get,
    "revokeApiKey": resources.Keys.revoke,
    "simulatePayment": resources.Sandbox.simulate,
}
# For people who are signed in; a key gets 403.
SESSION_ONLY = {"listApiKeys", "createApiKey", "getProject"}

document = json.load(urllib.request.urlopen(os.environ["LUNAS_URL"] + "/openapi.json"))
schemas = document["components"]["schemas"]


def reached(schema, found):
    """The names of schemas that an answer can contain, each once."""
    for name in re.findall(r"#/components/schemas/(\w+)", json.dumps(schema)):
        if name not in found:
            found.add(name)
            reached(schemas[name], found)


def members_of(name):
    """The members of the client's type of that name; of all types, where it is a union."""
    prefix, _, item = name.partition("_")
    kind = getattr(types, item + prefix if prefix == "Listing" else name, None)
    kinds = typing.get_args(kind) if typing.get_origin(kind) is typing.Union else [kind]
    return {member for one in kinds for member in getattr(one, "__annotations__", {})}


def has(known, wanted, what):
    missing = set(wanted) - set(known)
    assert not missing, f"{what} lacks {sorted(missing)}"


operations = [
    operation
    for path, methods in document["paths"].items()
    if path.startswith("/v1/")
    for operation in methods.values()
    if operation["operationId"] not in SESSION_ONLY
]
assert sorted(METHODS) == sorted(operation["operationId"] for operation in operations)
answers = set()
for operation in operations:
    name = operation["operationId"]
    sent = inspect.signature(METHODS[name]).parameters
    query = {one["name"] for one in operation.get("parameters", []) if one.get("in") == "query"}
    # A key names its project already.
    has(sent, query - {"project_id"}, name)
    if "requestBody" in operation:
        schema = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"].rsplit("/")[-1]
        has(sent, schemas[schema]["properties"], name)
    for status, answer in operation["responses"].items():
        if status.startswith("2"):
            reached(answer["content"]["application/json"]["schema"], answers)
for name in sorted(answers):
    shapes = [schemas[name], *schemas[name].get("oneOf", [])]
    has(members_of(name), [member for shape in shapes for member in shape.get("properties", {})], name)
print(f"{len(operations)} operations and {len(answers)} schemas are in the client")
