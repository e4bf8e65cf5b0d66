"""Tokens of browsers and programs. A browser keeps its token in a cookie across restarts."""

from __future__ import annotations

import hashlib
import hmac
import threading
import time
from collections import OrderedDict

from ssdpt.monitor.store import Store, StoreUnavailable, User

COOKIE = "ssdpt_session"
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

    def user_of(self, token: str) -> User | None:
        """The user of a token; None if it is not valid."""
        key = hashlib.sha256(token.encode("utf-8", "replace")).digest()
        with self._lock:
            cached, checked = self._cache.get(key, (None, 0.0))
        if cached is not None and time.monotonic() - checked < _CACHE_SECONDS:
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


def csrf_token(token: str) -> str:
    """What a page sends back to prove that it could read the session; other sites cannot."""
    return hmac.new(token.encode("utf-8", "replace"), b"csrf", hashlib.sha256).hexdigest()


def is_csrf_token(token: str, sent: str) -> bool:
    """Whether a CSRF token is that of the session; compared in constant time."""
    return hmac.compare_digest(csrf_token(token).encode(), sent.encode("utf-8", "replace"))
