"""Holds the client against the OpenAPI document of a running server, LUNAS_URL.

Methods, parameters, members, which of them may be missing, and the words that they may have.
"""

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
    "createRefund": resources.Refunds.create,
    "listRefunds": resources.Refunds.list,
    "getRefund": resources.Refunds.get,
    "cancelRefund": resources.Refunds.cancel,
    "listBanks": resources.Banks.list,
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
    "simulateRefund": resources.Sandbox.simulate_refund,
}
# For people who are signed in; a key gets 403.
SESSION_ONLY = {"listApiKeys", "createApiKey", "getProject", "listAuditLines"}

document = json.load(urllib.request.urlopen(os.environ["LUNAS_URL"] + "/openapi.json"))
schemas = document["components"]["schemas"]


def reached(schema, found):
    """The names of schemas that an answer can contain, each once."""
    for name in re.findall(r"#/components/schemas/(\w+)", json.dumps(schema)):
        if name not in found:
            found.add(name)
            reached(schemas[name], found)


def members_of(name):
    """The members of the client's type of that name, and those that may be missing; of all types, where it is a union."""
    prefix, _, item = name.partition("_")
    kind = getattr(types, item + prefix if prefix == "Listing" else name, None)
    kinds = typing.get_args(kind) if typing.get_origin(kind) is typing.Union else [kind]
    optional = {member for one in kinds for member in getattr(one, "__optional_keys__", ())}
    return optional | {member for one in kinds for member in getattr(one, "__required_keys__", ())}, optional


def words(schema):
    """The words of every `enum` in a schema."""
    return {word for words in re.findall(r'"enum": (\[.*?\])', json.dumps(schema)) for word in json.loads(words)}


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
taken = set()
allowed = set()
for operation in operations:
    name = operation["operationId"]
    sent = inspect.signature(METHODS[name]).parameters
    query = {one["name"] for one in operation.get("parameters", []) if one.get("in") == "query"}
    # A key names its project already.
    has(sent, query - {"project_id"}, name)
    allowed |= words(operation.get("parameters", []))
    if "requestBody" in operation:
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        has(sent, schemas[schema["$ref"].rsplit("/")[-1]]["properties"], name)
        reached(schema, taken)
    for status, answer in operation["responses"].items():
        if status.startswith("2"):
            reached(answer["content"]["application/json"]["schema"], answers)
for name in sorted(answers):
    shapes = [schemas[name], *schemas[name].get("oneOf", [])]
    members = {member for shape in shapes for member in shape.get("properties", {})}
    required = {member for shape in shapes for member in shape.get("required", [])}
    known, optional = members_of(name)
    has(known, members, name)
    assert not members or optional == members - required, f"{name}: what may be missing is {sorted(members - required)}"
for name in answers | taken:
    allowed |= words(schemas[name])
has(re.findall(r'"([\w.]+)"', inspect.getsource(types)), allowed, "the types")
print(f"{len(operations)} operations and {len(answers)} schemas are in the client")
