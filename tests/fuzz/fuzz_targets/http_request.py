"""Requests to the server: the line of the request, headers, an empty line, the body."""

from __future__ import annotations

import json

from fuzz_oracle import Violation, wrong_in
from fuzz_server import AsgiServer
from fuzz_target import FuzzTarget

_METHODS = ("GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE")


class Target(FuzzTarget):
    """Anyone at this computer sends a request; the reply is no server error."""

    share = 40
    longest = 4096
    words = (
        *(b"/v1/machines/fan-1", b"/v1/events/0123456789abcdef0123456789abcdef", b"/v1/session"),
        *(b"/learn", b"/audio", b"/notes", b"/trend", b"/label", b"/details", b"/thresholds"),
        *(
            b"content-type: application/json",
            b"content-type: audio/wav",
            b"range: bytes=0-",
            b"%00",
        ),
        *(b"?begin=", b"&end=", b"limit=", b"1e999", b"NaN", b"null", b"-1", b"\r\n\r\n", b"%ff"),
        *(b'{"minutes": 5}', b'"text":', b'"label":', b"[[[[", b"\\ud800", b"9" * 20, b"../"),
    )

    def __init__(self, folder):
        super().__init__(folder)
        self._server = AsgiServer(folder)

    def run(self, data: bytes) -> None:
        head, _, body = data.partition(b"\r\n\r\n")
        first, *lines = head.split(b"\r\n")
        method, _, target = first.partition(b" ")
        name = method.decode("latin-1").upper()
        if name not in _METHODS:
            name = _METHODS[len(method) % len(_METHODS)]
        if not target.startswith(b"/"):
            target = b"/" + target
        headers = [
            (key.strip().lower(), value.strip())
            for key, _, value in (line.partition(b":") for line in lines[:10])
            if key.strip()
        ]
        status, _, content = self._server.request(name, target, headers, body)
        if not 200 <= status < 500:
            raise Violation(f"{name} {target[:60]!r} answers {status}: {content[:200]!r}")
        sentence = json.loads(content)["error"] if status >= 400 and name != "HEAD" else "none"
        if wrong := wrong_in(sentence, "the reply"):
            raise Violation(wrong[0])
