# SPDX-License-Identifier: BSD-3-Clause
"""The socket: loopback only, one thread a request, nothing logged (an address holds the token)."""

from __future__ import annotations

import secrets
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from effio.errors import EffioError, ExitCode
from effio.judge.rules import RuleFile
from effio.serve.app import DEFECT, App
from effio.serve.shelf import Shelf

LOOPBACK = "127.0.0.1"
_TIMEOUT_SECONDS = 30


class _Handler(BaseHTTPRequestHandler):
    server: Server
    server_version = "effio"
    sys_version = ""
    timeout = _TIMEOUT_SECONDS

    def _respond(self) -> None:
        # Of two headers of one name the first would count here and the last elsewhere.
        several = len(self.headers.get_all("Host", [])) != 1
        headers = {} if several else {"Host": self.headers["Host"]}
        try:
            response = self.server.app.respond(self.command, self.path, headers)
        except Exception:
            # Without it the browser has an empty page, and the terminal nothing to report.
            traceback.print_exc()
            response = DEFECT
        self.send_response(response.status)
        for name, value in response.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(response.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(response.body)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = _respond  # noqa: N815
    do_PATCH = do_OPTIONS = do_TRACE = do_CONNECT = _respond  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:
        """An address holds the token: it goes nowhere."""


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, root: Path, port: int = 0, rules: RuleFile | None = None) -> None:
        try:
            super().__init__((LOOPBACK, port), _Handler)
        except OSError as error:
            raise EffioError(
                f"port {port} of {LOOPBACK} cannot be used: {error.strerror}",
                ExitCode.ENVIRONMENT,
                "leave --port out: a free one is taken",
            ) from None
        token = secrets.token_urlsafe(24)
        number = self.server_address[1]
        self.app = App(Shelf(root), token, int(number), rules)
        self.url = f"http://{LOOPBACK}:{number}/{token}/"

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that closes early is not an error."""
