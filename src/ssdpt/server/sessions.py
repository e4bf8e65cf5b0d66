"""Tokens of browsers and programs. A browser's lies in a cookie, and outlives a restart."""

from __future__ import annotations

import hashlib
import hmac
import threading
import time
from collections import OrderedDict

from ssdpt.monitor.store import Store, StoreUnavailable, User

COOKIE = "ssdpt_session"
_REMEMBER = 1.0  # seconds that a token is believed without asking: others revoke some, too
_MOST = 4096  # tokens that are remembered


class Sessions:
    """Knows whom a token stands for, also for a while in which the store does not answer.

    A page that shows alarms must not go blind together with the database.
    """

    def __init__(self, store: Store, days: float) -> None:
        self.seconds = days * 86400
        self._store = store
        self._known: OrderedDict[bytes, tuple[User, float]] = OrderedDict()
        self._lock = threading.Lock()

    def begin(self, name: str) -> str:
        """Log in: the secret for the cookie, told only here."""
        return self._store.new_token(name, self.seconds / 86400)

    def end(self, token: str) -> None:
        """Log out."""
        self._store.revoke_token(token)
        self.forget()

    def find(self, token: str) -> User | None:
        """Whom it stands for."""
        key = hashlib.sha256(token.encode("utf-8", "replace")).digest()
        with self._lock:
            user, asked = self._known.get(key, (None, 0.0))
        if user is not None and time.monotonic() - asked < _REMEMBER:
            return user
        try:
            found = self._store.check_token(token)
        except StoreUnavailable:
            if user is None:
                raise
            return user
        with self._lock:
            self._known.pop(key, None)
            if found is not None:
                self._known[key] = (found, time.monotonic())
                if len(self._known) > _MOST:
                    self._known.popitem(last=False)
        return found

    def forget(self) -> None:
        """Someone's tokens have changed."""
        with self._lock:
            self._known.clear()


def csrf_of(token: str) -> str:
    """What a page shows to prove that it has read it: other sites' pages can send, not read."""
    return hmac.new(token.encode("utf-8", "replace"), b"csrf", hashlib.sha256).hexdigest()


def is_csrf_of(token: str, shown: str) -> bool:
    """Compared in a time that does not tell how much of it is right."""
    return hmac.compare_digest(csrf_of(token).encode(), shown.encode("utf-8", "replace"))
