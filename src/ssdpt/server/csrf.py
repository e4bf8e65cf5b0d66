"""Whose page a request comes from: a stranger's page in the user's browser must not act here."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.datastructures import Headers

from ssdpt.server.settings import is_loopback

# Anything that passes requests on says so in one of these.
_RELAYED = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip")


def comes_from_here(headers: Headers) -> bool:
    """The request was meant for this computer, by someone on it.

    A stranger's name that was made to point here (DNS rebinding) still stands in Host; a proxy
    that speaks for others leaves its marks.
    """
    try:
        host = urlsplit(f"//{headers.get('host', '')}").hostname or ""
    except ValueError:
        return False
    return is_loopback(host) and not any(name in headers for name in _RELAYED)


def is_own_page(headers: Headers) -> bool:
    """The request comes from a page of this server, or from no browser at all."""
    site = headers.get("sec-fetch-site")
    if site is not None:  # browsers set it and pages cannot
        return site in ("same-origin", "none")
    return origin_matches(headers)


def origin_matches(headers: Headers) -> bool:
    """No Origin, or that of this server as the browser called it."""
    origin = headers.get("origin")
    if origin is None:
        return True
    try:
        return urlsplit(origin).netloc.lower() == headers.get("host", "").lower() != ""
    except ValueError:
        return False
