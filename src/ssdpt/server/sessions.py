"""Tokens of browsers and programs. A browser keeps its token in a cookie across restarts."""

from __future__ import annotations

import hashlib
import hmac
import threading
import time
from collections import OrderedDict

from ssdpt.monitor.store import Store, StoreUnavailable, User

COOKIE = "ssdpt_session"
DEVICE_SECONDS = 400 * 86400  # that a browser is known after a sign-in; they keep cookies no longer
_CACHE_SECONDS = 1.0  # short: the command line may revoke tokens, too
_MAX_CACHED = 4096  # tokens


class Sessions:
    """The users of tokens, cached so that a page goes on while the store does not answer."""

    def __init__(self, store: Store, days: float) -> None:
        self.seconds = days * 86400
        self._store = store
        self._cache: OrderedDict[bytes, tuple[User, float]] = OrderedDict()
        self._lock = threading.Lock()

    def create(self, name: str) -> str:
        """Begin a session; returns the secret for the cookie, which is not stored in plain text."""
        return self._store.new_token(name, self.seconds / 86400)

    def revoke(self, token: str) -> None:
        """End a session."""
        self._store.revoke_token(token)
        self.clear_cache()

    def remembered(self, token: str) -> User | None:
        """The user of a token that was checked a moment ago; None: only the store can tell."""
        cached, is_fresh = self._cached(_key(token))
        return cached if is_fresh else None

    def user_of(self, token: str) -> User | None:
        """The user of a token; None if it is not valid."""
        key = _key(token)
        cached, is_fresh = self._cached(key)
        if is_fresh:
            return cached
        try:
            user = self._store.check_token(token)
        except StoreUnavailable:
            if cached is None:
                raise
            return cached
        with self._lock:
            self._cache.pop(key, None)
            if user is not None:
                self._cache[key] = (user, time.monotonic())
                if len(self._cache) > _MAX_CACHED:
                    self._cache.popitem(last=False)
        return user

    def clear_cache(self) -> None:
        """Forget cached tokens, since tokens have changed."""
        with self._lock:
            self._cache.clear()

    def _cached(self, key: bytes) -> tuple[User | None, bool]:
        """What was last known of a token, and whether it was checked a moment ago."""
        with self._lock:
            cached, checked = self._cache.get(key, (None, 0.0))
        return cached, cached is not None and time.monotonic() - checked < _CACHE_SECONDS


def _key(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


def device_cookie(name: str) -> str:
    """The cookie by which a browser is known as one of this user: several may share it."""
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    return f"ssdpt_device_{digest[:12]}"


def csrf_token(token: str) -> str:
    """What a page sends back to prove that it could read the session; other sites cannot."""
    return hmac.new(token.encode("utf-8", "replace"), b"csrf", hashlib.sha256).hexdigest()


def is_csrf_token(token: str, sent: str) -> bool:
    """Whether a CSRF token is that of the session; compared in constant time."""
    return hmac.compare_digest(csrf_token(token).encode(), sent.encode("utf-8", "replace"))
