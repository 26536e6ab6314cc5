"""python3 -m unittest discover test"""

import hashlib
import hmac
import json
import pathlib
import sys
import time
import traceback
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from fake_server import KEY, FakeServer  # noqa: E402
from lunas import Lunas, LunasError, verify_webhook  # noqa: E402

ORDER = {"reference": "ORDER-1", "amount": 15000, "payment_method": {"type": "qris"}}
OK = (200, {}, {"id": "pay_1"})


def failure(status, code="INTERNAL_ERROR", **headers):
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    return status, {"X-Request-Id": "req_1", **headers}, {"error": {"code": code, "message": "because"}}


class Client(unittest.TestCase):
    def against(self, answers, use, **options):
        """Runs `use` with a client whose server gives `answers`, and returns the requests that came."""
        with FakeServer(answers) as server:
            use(Lunas(server.url, KEY, project_id="prj_1", **options))
            return server.requests

    def fails(self, call, **expected):
        with self.assertRaises(LunasError) as caught:
            call()
        for member, value in expected.items():
            self.assertEqual(getattr(caught.exception, member), value, member)
        self.assertNotIn(KEY, "".join(traceback.format_exception(None, caught.exception, None)) + repr(vars(caught.exception)))
        return caught.exception

    def test_a_create_carries_the_key_the_project_the_language_and_an_idempotency_key_of_its_own(self):
        def use(lunas):
            lunas.payments.create(**ORDER)
            lunas.links.create(title="Kopi", amount=15000, project_id="prj_2", idempotency_key="mine")

        first, second = self.against([OK], use)
        self.assertEqual(first["line"], "POST /v1/payments")
        self.assertEqual(first["headers"]["Authorization"], f"Bearer {KEY}")
        self.assertEqual(first["headers"]["Accept-Language"], "id")
        self.assertRegex(first["headers"]["Idempotency-Key"], "^[0-9a-f-]{36}$")
        self.assertEqual(json.loads(first["body"]), {"project_id": "prj_1", **ORDER})
        self.assertEqual(second["headers"]["Idempotency-Key"], "mine")
        self.assertEqual(json.loads(second["body"]), {"project_id": "prj_2", "title": "Kopi", "amount": 15000})

    def test_429_500_503_and_lost_connections_are_retried_with_the_same_idempotency_key_and_request_id(self):
        answers = [failure(429), failure(500), failure(503), "lose", "cut", OK]
        use = lambda lunas: self.assertEqual(lunas.payments.create(**ORDER), {"id": "pay_1"})  # noqa: E731
        requests = self.against(answers, use, max_retries=5)
        self.assertEqual(len(requests), 6)
        for name in ["Idempotency-Key", "X-Request-Id"]:
            self.assertEqual(len({request["headers"][name] for request in requests}), 1, name)
        self.assertEqual(len({request["body"] for request in requests}), 1)

    def test_no_other_status_is_retried_and_the_error_says_everything_about_it(self):
        for status in [400, 401, 403, 404, 409, 502, 504]:
            expected = {"status": status, "code": "SOME_CODE", "message": "because", "request_id": "req_1", "retry_after": None}
            use = lambda lunas: self.fails(lambda: lunas.payments.get("pay_1"), **expected)  # noqa: B023, E731
            self.assertEqual(len(self.against([failure(status, "SOME_CODE")], use)), 1)

    def test_a_retry_waits_as_long_as_retry_after_asks_for(self):
        started = time.monotonic()
        self.against([failure(503, Retry_After="1"), OK], lambda lunas: lunas.balance.get())
        self.assertGreaterEqual(time.monotonic() - started, 1)

    def test_retries_end_by_number_by_time_and_before_a_retry_after_that_lasts_too_long(self):
        use = lambda lunas: self.fails(lunas.balance.get, status=500)  # noqa: E731
        self.assertEqual(len(self.against([failure(500)], use, max_retries=2)), 3)
        self.assertEqual(len(self.against([failure(500)], use, max_retry_seconds=0)), 1)
        asked = lambda lunas: self.fails(lunas.balance.get, status=429, retry_after=3600)  # noqa: E731
        self.assertEqual(len(self.against([failure(429, Retry_After="3600")], asked)), 1)

    def test_a_post_without_an_idempotency_key_is_not_repeated_after_a_lost_connection_but_is_after_503(self):
        def lost(lunas):
            self.fails(lambda: lunas.receipts.accept("rcp_1", note="late"), code="CONNECTION_LOST", status=None)

        self.assertEqual(len(self.against(["lose", OK], lost)), 1)
        refused = self.against([failure(503), OK], lambda lunas: lunas.receipts.return_("rcp_1", note="back"))
        self.assertEqual(len(refused), 2)
        revoked = self.against(["lose", OK], lambda lunas: lunas.keys.revoke("key_1"))
        self.assertEqual(len(revoked), 2, "a DELETE may be repeated")

    def test_an_attempt_ends_after_its_time_and_the_error_has_the_request_id_that_was_sent(self):
        errors = []
        use = lambda lunas: errors.append(self.fails(lunas.balance.get, code="TIMEOUT"))  # noqa: E731
        requests = self.against(["hang"], use, timeout_seconds=0.2, max_retries=1)
        self.assertEqual([request["headers"]["X-Request-Id"] for request in requests], [errors[0].request_id] * 2)

    def test_what_is_not_an_answer_of_lunas_is_an_error_and_redirects_are_not_followed(self):
        for answer in [(502, {}, b"<h1>Bad gateway</h1>"), (200, {}, b"<h1>Hello</h1>"), (302, {"Location": "/v1"}, {})]:
            use = lambda lunas: self.fails(lunas.balance.get, code="UNEXPECTED_ANSWER", status=answer[0])  # noqa: B023, E731
            self.assertEqual(len(self.against([answer], use)), 1)

    def test_all_reads_every_page_and_gives_nothing_twice_when_the_list_moves(self):
        pages = [(200, {}, {"data": [{"id": id} for id in ids], "pagination": {"total_pages": 3}}) for ids in ["ed", "dc", "ba"]]

        def use(lunas):
            found = [payment["id"] for payment in lunas.payments.all(q="kopi susu", status="paid")]
            self.assertEqual(found, ["e", "d", "c", "b", "a"])

        lines = [request["line"] for request in self.against(pages, use)]
        expected = "GET /v1/payments?page={}&page_size=100&q=kopi+susu&status=paid"
        self.assertEqual(lines, [expected.format(page) for page in (1, 2, 3)])

    def test_ids_are_escaped_and_bad_settings_are_refused_without_naming_the_key(self):
        requests = self.against([OK], lambda lunas: lunas.payments.get("../balance?x"))
        self.assertEqual(requests[0]["line"], "GET /v1/payments/..%2Fbalance%3Fx")
        for url, key in [("https://a", KEY + "\n"), ("https://a", ""), ("https://user:secret@a", KEY), ("ftp://a", KEY)]:
            with self.assertRaises(ValueError) as caught:
                Lunas(url, key)
            self.assertNotIn(KEY, str(caught.exception))
        with self.assertRaises(ValueError):
            Lunas("https://example.com", KEY, project_id="prj_1").payments.create(**ORDER, idempotency_key="two words")


SECRET = "whsec_lunas"
BODY = '{"id":"evt_1","type":"payment.paid","data":{"name":"Toko Kopi ☕ 100%s\\n"}} \n'.encode()


def sign(secret, signed_at, body=BODY):
    return hmac.new(secret.encode(), f"{signed_at}.".encode() + body, hashlib.sha256).hexdigest()


def at(signed_at, signature=None):
    return f"t={signed_at},v1={sign(SECRET, signed_at) if signature is None else signature}"


class Webhooks(unittest.TestCase):
    def test_a_webhook_is_accepted_with_either_signature_of_a_rotation(self):
        now = int(time.time())
        mine, other = sign(SECRET, now), sign("whsec_new", now)
        for header in [f"t={now},v1={mine}", f"t={now},v1={other},v1={mine}", f"t={now}, v1={mine}, v2=x"]:
            event = verify_webhook(BODY, header, SECRET)
            self.assertEqual((event["id"], event["data"]["name"]), ("evt_1", "Toko Kopi ☕ 100%s\n"))
        self.assertEqual(verify_webhook(BODY, at(now - 1000), SECRET, tolerance_seconds=2000)["id"], "evt_1")

    def test_a_webhook_that_is_not_ours_is_refused_and_the_code_says_why(self):
        now = int(time.time())

        def refused(code, header, body=BODY, secret=SECRET):
            with self.assertRaises(LunasError) as caught:
                verify_webhook(body, header, secret)
            self.assertEqual(caught.exception.code, code, header)

        for header in [None, ""]:
            refused("WEBHOOK_HEADER_MISSING", header)
        for header in ["x", f"v1={sign(SECRET, now)}", f"t={now}", at("soon"), at(-1), at("9" * 5000), at("١")]:
            refused("WEBHOOK_HEADER_MALFORMED", header)
        refused("WEBHOOK_SIGNATURE_MISMATCH", at(now), secret="whsec_other")
        refused("WEBHOOK_SIGNATURE_MISMATCH", at(now), body=BODY[1:])
        for signature in ["", "0" * 64, sign(SECRET, now)[1:], "é" * 32]:
            refused("WEBHOOK_SIGNATURE_MISMATCH", at(now, signature))
        refused("WEBHOOK_SIGNATURE_MISMATCH", f"t={now + 1},{at(now)}")
        refused("WEBHOOK_TOO_OLD", at(now - 302))
        refused("WEBHOOK_FROM_THE_FUTURE", at(now + 302))
        refused("WEBHOOK_NOT_JSON", at(now, sign(SECRET, now, b"hello")), b"hello")
        with self.assertRaises(TypeError):
            verify_webhook(BODY.decode(), at(now), SECRET)


if __name__ == "__main__":
    unittest.main()
