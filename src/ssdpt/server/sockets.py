"""What the routes with WebSockets share."""

from __future__ import annotations

from ssdpt.errors import one_line

_MAX_REASON = 123  # bytes in the closing frame of a WebSocket


def short_reason(reason: str) -> str:
    """As much of a sentence as a closing frame holds."""
    return one_line(reason).encode()[:_MAX_REASON].decode("utf-8", "ignore")
