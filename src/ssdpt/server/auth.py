"""Who sends a request, and what they may do: the one place where roles are enforced."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection

from ssdpt.errors import SsdptError
from ssdpt.monitor.store import Role, Store, StoreUnavailable
from ssdpt.server.attempts import SignInAttempts
from ssdpt.server.csrf import is_from_this_computer, is_own_page, origin_matches
from ssdpt.server.problems import SENTENCES
from ssdpt.server.sessions import COOKIE, Sessions, is_csrf_token
from ssdpt.server.settings import ServerSettings

LOCAL_USER = "local"  # anyone at this computer, while there are no users
_SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}
_RANK: dict[Role, int] = {"viewer": 0, "operator": 1, "admin": 2}
_CACHE_SECONDS = 1.0  # until the store is asked again whether there are users
_LOCAL_ONLY = (
    "without users ssdpt answers only to localhost; for other names or a proxy create an admin "
    "first: ssdpt user add NAME --role admin"
)


@dataclass(frozen=True, slots=True)
class CurrentUser:
    """The sender of a request: a user, or anyone at this computer."""

    name: str
    role: Role
    cookie: str | None = field(default=None, repr=False)  # the secret of a browser session

    def has_role(self, role: Role) -> bool:
        """Whether the sender has at least this role."""
        return _RANK[self.role] >= _RANK[role]


class AccessControl:
    """Recognises users by session cookie or token."""

    def __init__(self, store: Store, settings: ServerSettings) -> None:
        self.settings = settings
        self.sessions = Sessions(store, settings.session_days)
        self.attempts = SignInAttempts()
        self._store = store
        self._has_users = True
        self._checked: float | None = None
        self._lock = threading.Lock()

    def has_users(self) -> bool:
        """Whether there are users; the command line may add some while the server runs."""
        with self._lock:
            now = time.monotonic()
            if self._checked is None or now - self._checked >= _CACHE_SECONDS:
                try:
                    self._has_users = bool(self._store.users())
                except StoreUnavailable:
                    if self._checked is None:
                        raise
                self._checked = now
            return self._has_users

    def clear_cache(self) -> None:
        """Forget cached users, since users have changed."""
        self.sessions.clear_cache()
        with self._lock:
            self._checked = None

    @property
    def needs_no_sign_in(self) -> bool:
        """Whether only this computer can reach the server and there are no users."""
        return self.settings.loopback and not self.has_users()

    def check_start(self) -> None:
        """Refuse to listen on a network address without users."""
        if not self.settings.loopback and not self.has_users():
            raise SsdptError(
                f"{self.settings.host} can be reached from the network and there are no users yet; "
                f"create an admin first: ssdpt user add NAME --role admin"
            )

    def identify(self, connection: HTTPConnection) -> CurrentUser | None:
        """Who sends the request; None if unknown. Forged requests are refused."""
        headers, socket = connection.headers, connection.scope["type"] == "websocket"
        unsafe = socket or connection.scope["method"] not in _SAFE_METHODS
        if unsafe and not (origin_matches(headers) if socket else is_own_page(headers)):
            raise HTTPException(403, "this request comes from a page of another site")
        if self.needs_no_sign_in:
            if not is_from_this_computer(headers):
                raise HTTPException(403, _LOCAL_ONLY)
            return CurrentUser(LOCAL_USER, "admin")
        scheme, _, token = headers.get("authorization", "").partition(" ")
        cookie = None
        if scheme.lower() != "bearer":
            token = cookie = connection.cookies.get(COOKIE, "")
        user = self.sessions.user_of(token.strip()) if token.strip() else None
        if user is None:
            return None
        if cookie is not None and unsafe:
            self._check_cookie(cookie, headers, socket=socket)
        return CurrentUser(user.name, user.role, cookie)

    @staticmethod
    def _check_cookie(cookie: str, headers: Headers, *, socket: bool) -> None:
        """Browsers send the cookie with requests of any page; only our own can add the token."""
        if socket and "origin" not in headers:
            raise HTTPException(403, "a WebSocket with a cookie needs the header Origin")
        if not socket and not is_csrf_token(cookie, headers.get("x-csrf-token", "")):
            raise HTTPException(403, "the header X-CSRF-Token is not that of this session")


class RequiresRole:
    """A dependency: only users with at least this role get through."""

    def __init__(self, role: Role) -> None:
        self.role: Role = role

    def __call__(self, connection: HTTPConnection) -> CurrentUser:
        access: AccessControl = connection.app.state.context.access
        user = access.identify(connection)
        if user is None:
            raise HTTPException(401, SENTENCES[401], {"WWW-Authenticate": "Bearer"})
        if not user.has_role(self.role):
            raise HTTPException(
                403, f"this needs the role {self.role}; {user.name} has the role {user.role}"
            )
        return user


Viewer = Annotated[CurrentUser, Depends(RequiresRole("viewer"))]
Operator = Annotated[CurrentUser, Depends(RequiresRole("operator"))]
Admin = Annotated[CurrentUser, Depends(RequiresRole("admin"))]
