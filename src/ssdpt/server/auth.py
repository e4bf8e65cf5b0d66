"""Who is asking, and what they may do: the one place where roles are enforced."""

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
from ssdpt.server.attempts import Attempts
from ssdpt.server.csrf import comes_from_here, is_own_page, origin_matches
from ssdpt.server.problems import SENTENCES
from ssdpt.server.sessions import COOKIE, Sessions, is_csrf_of
from ssdpt.server.settings import ServerSettings

LOCAL = "local"  # whoever sits at this computer, while there are no users
_SAFE = {"GET", "HEAD", "OPTIONS"}
_RANK: dict[Role, int] = {"viewer": 0, "operator": 1, "admin": 2}
_REMEMBER = 1.0  # seconds until it is asked again whether there are users
_NOT_FROM_HERE = (
    "without users ssdpt answers only to localhost; for other names or a proxy make a user "
    "first: ssdpt user add NAME --role admin"
)


@dataclass(frozen=True, slots=True)
class Who:
    """Someone who may be here."""

    name: str
    role: Role
    cookie: str | None = field(default=None, repr=False)  # the secret of a browser's login

    def may(self, role: Role) -> bool:
        """Whether they have at least this role."""
        return _RANK[self.role] >= _RANK[role]


class AccessControl:
    """Knows everyone who may come in."""

    def __init__(self, store: Store, settings: ServerSettings) -> None:
        self.settings = settings
        self.sessions = Sessions(store, settings.session_days)
        self.attempts = Attempts()
        self._store = store
        self._users = True
        self._asked: float | None = None
        self._lock = threading.Lock()

    def has_users(self) -> bool:
        """Whether anyone was given a password; by the command line as well, while this runs."""
        with self._lock:
            now = time.monotonic()
            if self._asked is None or now - self._asked >= _REMEMBER:
                try:
                    self._users = bool(self._store.users())
                except StoreUnavailable:
                    if self._asked is None:
                        raise
                self._asked = now
            return self._users

    def forget(self) -> None:
        """Users have changed."""
        self.sessions.forget()
        with self._lock:
            self._asked = None

    @property
    def is_open(self) -> bool:
        """Only this computer can reach the server, and nobody was given a password."""
        return self.settings.loopback and not self.has_users()

    def check_start(self) -> None:
        """Refuse to listen to a network with no users."""
        if not self.settings.loopback and not self.has_users():
            raise SsdptError(
                f"{self.settings.host} can be reached from the network and there are no users yet; "
                f"make one first: ssdpt user add NAME --role admin"
            )

    def who(self, connection: HTTPConnection) -> Who | None:
        """Who is asking; None for nobody known. Requests that someone forged are refused."""
        headers, socket = connection.headers, connection.scope["type"] == "websocket"
        unsafe = socket or connection.scope["method"] not in _SAFE
        if unsafe and not (origin_matches(headers) if socket else is_own_page(headers)):
            raise HTTPException(403, "this request comes from another site's page")
        if self.is_open:
            if not comes_from_here(headers):
                raise HTTPException(403, _NOT_FROM_HERE)
            return Who(LOCAL, "admin")
        scheme, _, token = headers.get("authorization", "").partition(" ")
        cookie = None
        if scheme.lower() != "bearer":
            token = cookie = connection.cookies.get(COOKIE, "")
        user = self.sessions.find(token.strip()) if token.strip() else None
        if user is None:
            return None
        if cookie is not None and unsafe:
            self._check_cookie(cookie, headers, socket=socket)
        return Who(user.name, user.role, cookie)

    @staticmethod
    def _check_cookie(cookie: str, headers: Headers, *, socket: bool) -> None:
        """A cookie comes along with what any page sends; only our own can show more."""
        if socket and "origin" not in headers:
            raise HTTPException(403, "a WebSocket with a cookie needs the header Origin")
        if not socket and not is_csrf_of(cookie, headers.get("x-csrf-token", "")):
            raise HTTPException(403, "the header X-CSRF-Token is not that of this login")


class Needs:
    """A dependency: the request goes on only for someone with at least this role."""

    def __init__(self, role: Role) -> None:
        self.role: Role = role

    def __call__(self, connection: HTTPConnection) -> Who:
        guard: AccessControl = connection.app.state.room.guard
        who = guard.who(connection)
        if who is None:
            raise HTTPException(401, SENTENCES[401], {"WWW-Authenticate": "Bearer"})
        if not who.may(self.role):
            raise HTTPException(
                403, f"this takes the role {self.role}; {who.name} has the role {who.role}"
            )
        return who


Viewer = Annotated[Who, Depends(Needs("viewer"))]
Operator = Annotated[Who, Depends(Needs("operator"))]
Admin = Annotated[Who, Depends(Needs("admin"))]
