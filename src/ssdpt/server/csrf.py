"""Where a request comes from: a page of another site must not act in the user's browser."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.datastructures import Headers

from ssdpt.server.settings import is_loopback

# Proxies add one of these.
_PROXY_HEADERS = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip")


def is_from_this_computer(headers: Headers) -> bool:
    """Whether the request was sent to this computer, by someone on it.

    After DNS rebinding, Host still has the foreign name; a proxy leaves its headers.
    """
    try:
        host = urlsplit(f"//{headers.get('host', '')}").hostname or ""
    except ValueError:
        return False
    return is_loopback(host) and not any(name in headers for name in _PROXY_HEADERS)


def is_own_page(headers: Headers) -> bool:
    """Whether the request comes from a page of this server, or from no browser at all."""
    site = headers.get("sec-fetch-site")
    if site is not None:  # browsers set it and pages cannot
        return site in ("same-origin", "none")
    return origin_matches(headers)


def origin_matches(headers: Headers) -> bool:
    """Whether there is no Origin, or that of this server as the browser addressed it."""
    origin = headers.get("origin")
    if origin is None:
        return True
    try:
        return urlsplit(origin).netloc.lower() == headers.get("host", "").lower() != ""
    except ValueError:
        return False
