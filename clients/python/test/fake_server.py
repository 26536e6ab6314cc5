"""A server on loopback that gives the answers of a list, one for each request, and remembers the requests."""

import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = "_".join(["sk", "test", "a1" * 19])


class FakeServer:
    """An answer is (status, headers, body), or one of the words `lose` (no answer), `cut` (half of one) and `hang`."""

    def __init__(self, answers):
        self.requests = []
        self.stopped = threading.Event()
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                answer = answers[min(len(fake.requests), len(answers) - 1)]
                fake.requests.append({"line": f"{self.command} {self.path}", "headers": self.headers, "body": body})
                if answer == "hang":
                    fake.stopped.wait(20)
                if answer in ("lose", "hang"):
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                status, headers, content = (200, {}, {"id": 1}) if answer == "cut" else answer
                content = content if isinstance(content, bytes) else json.dumps(content).encode()
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content) + (answer == "cut")))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = do_DELETE = answer

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.server.shutdown()
        self.server.server_close()
