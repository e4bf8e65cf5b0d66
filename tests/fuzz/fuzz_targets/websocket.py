"""WebSockets: a line with the address, then messages, each with a type and a length before it."""

from __future__ import annotations

from fuzz_oracle import Violation, wrong_in
from fuzz_server import AsgiServer
from fuzz_target import FuzzTarget

_MOST = 20  # messages


class Target(FuzzTarget):
    """Anyone at this computer connects, sends messages and leaves."""

    share = 20
    longest = 2048
    words = (
        *(b"/v1/machines/fan-1/pcm?rate=16000&channels=1&format=f32\n", b"&format=s16", b"rate="),
        *(b"/v1/machines/fan-1/listen\n", b"/v1/machines/nobody/pcm?rate=1\n", b"channels=64"),
        *(b"\x00\x00\x80\x7f", b"\x00\x00\xc0\x7f", b"\x01\x04", b"\x00\x04"),
    )

    def __init__(self, folder):
        super().__init__(folder)
        self._server = AsgiServer(folder)

    def run(self, data: bytes) -> None:
        target, _, rest = data.partition(b"\n")
        messages: list[bytes | str] = []
        while len(rest) >= 2 and len(messages) < _MOST:
            kind, length = rest[0], rest[1]
            piece, rest = rest[2 : 2 + length], rest[2 + length :]
            messages.append(piece.decode("utf-8", "replace") if kind % 4 == 1 else piece)
        for reply in self._server.socket(b"/" + target.lstrip(b"/"), messages):
            reason = reply.get("reason") or ""
            if reply["type"] == "websocket.close" and reason:
                if wrong := wrong_in(reason, "the reason of a close"):
                    raise Violation(wrong[0])
                if len(reason.encode()) > 123:
                    raise Violation("the reason of a close is too long")
            if reply["type"].endswith("http.response.start") and reply["status"] >= 500:
                raise Violation(f"answers {reply['status']}: {target[:60]!r}")
