"""Who sends a request, and what they may do: the one place where roles are enforced."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection

from ssdpt.errors import SsdptError
from ssdpt.monitor.store import Role, Store, StoreUnavailable, User
from ssdpt.sentences import Sentence
from ssdpt.server.attempts import SignInAttempts
from ssdpt.server.csrf import is_from_this_computer, is_own_page, origin_matches
from ssdpt.server.problems import SENTENCES
from ssdpt.server.sessions import COOKIE, Sessions, is_csrf_token
from ssdpt.server.settings import ServerSettings

LOCAL_USER = "local"  # anyone at this computer, while there are no users
_SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}
_RANK: dict[Role, int] = {"viewer": 0, "operator": 1, "admin": 2}
_CACHE_SECONDS = 1.0  # until the store is asked again whether there are users


@dataclass(frozen=True, slots=True)
class CurrentUser:
    """The sender of a request: a user, or anyone at this computer."""

    name: str
    role: Role
    cookie: str | None = field(default=None, repr=False)  # the secret of a browser session

    def has_role(self, role: Role) -> bool:
        """Whether the sender has at least this role."""
        return _RANK[self.role] >= _RANK[role]


class NotRemembered(Exception):
    """Only the store can tell who sends a request."""


class AccessControl:
    """Recognises users by session cookie or token."""

    def __init__(self, store: Store, settings: ServerSettings) -> None:
        self.settings = settings
        self.sessions = Sessions(store, settings.session_days)
        self.attempts = SignInAttempts()
        self._store = store
        self._has_users = True
        self._checked: float | None = None
        self._asking = False  # whether a request is asking the store
        self._version = 0  # of the users, as far as this server changes them
        self._lock = threading.Lock()

    def has_users(self, *, from_memory: bool = False) -> bool:
        """Whether there are users; the command line may add some while the server runs.

        One request asks the store, without a lock; the others take what was known before.
        `from_memory`: NotRemembered instead of asking.
        """
        now = time.monotonic()
        with self._lock:
            checked, version = self._checked, self._version
            if checked is not None and (self._asking or now - checked < _CACHE_SECONDS):
                return self._has_users
            if from_memory:
                raise NotRemembered
            self._asking = True
        try:
            has_users = bool(self._store.users())
        except StoreUnavailable:
            if checked is None:
                raise
            return self._has_users
        finally:
            self._asking = False
        with self._lock:
            if version == self._version:
                self._has_users, self._checked = has_users, now
        return has_users

    def clear_cache(self) -> None:
        """Forget cached users, since users have changed."""
        self.sessions.clear_cache()
        with self._lock:
            self._checked = None
            self._version += 1  # what a request is asking now may be of before

    @property
    def needs_no_sign_in(self) -> bool:
        """Whether only this computer can reach the server and there are no users."""
        return self._needs_no_sign_in(from_memory=False)

    def _needs_no_sign_in(self, *, from_memory: bool) -> bool:
        return self.settings.loopback and not self.has_users(from_memory=from_memory)

    def check_start(self) -> None:
        """Refuse to listen on a network address without users."""
        if not self.settings.loopback and not self.has_users():
            raise SsdptError(Sentence("api.needsUsers", host=self.settings.host))

    def identify(
        self, connection: HTTPConnection, *, from_memory: bool = False
    ) -> CurrentUser | None:
        """Who sends the request; None if unknown. Forged requests are refused.

        `from_memory`: NotRemembered instead of asking the store.
        """
        headers, socket = connection.headers, connection.scope["type"] == "websocket"
        unsafe = socket or connection.scope["method"] not in _SAFE_METHODS
        if unsafe and not (origin_matches(headers) if socket else is_own_page(headers)):
            raise HTTPException(403, Sentence("api.otherSite"))
        if self._needs_no_sign_in(from_memory=from_memory):
            if not is_from_this_computer(headers):
                raise HTTPException(403, Sentence("api.localOnly"))
            return CurrentUser(LOCAL_USER, "admin")
        scheme, _, token = headers.get("authorization", "").partition(" ")
        cookie = None
        if scheme.lower() != "bearer":
            token = cookie = connection.cookies.get(COOKIE, "")
        user = self._user_of(token.strip(), from_memory=from_memory)
        if user is None:
            return None
        if cookie is not None and unsafe:
            self._check_cookie(cookie, headers, socket=socket)
        return CurrentUser(user.name, user.role, cookie)

    def _user_of(self, token: str, *, from_memory: bool) -> User | None:
        if not token:
            return None
        if not from_memory:
            return self.sessions.user_of(token)
        user = self.sessions.remembered(token)
        if user is None:
            raise NotRemembered
        return user

    @staticmethod
    def _check_cookie(cookie: str, headers: Headers, *, socket: bool) -> None:
        """Browsers send the cookie with requests of any page; only our own can add the token."""
        if socket and "origin" not in headers:
            raise HTTPException(403, Sentence("api.needsOrigin"))
        if not socket and not is_csrf_token(cookie, headers.get("x-csrf-token", "")):
            raise HTTPException(403, Sentence("api.wrongCsrf"))


class RequiresRole:
    """A dependency: only users with at least this role get through."""

    def __init__(self, role: Role) -> None:
        self.role: Role = role

    async def __call__(self, connection: HTTPConnection) -> CurrentUser:
        access: AccessControl = connection.app.state.context.access
        try:
            # Most requests: no thread is waited for, which takes long while all are busy.
            user = access.identify(connection, from_memory=True)
        except NotRemembered:
            user = await run_in_threadpool(access.identify, connection)
        if user is None:
            raise HTTPException(401, SENTENCES[401], {"WWW-Authenticate": "Bearer"})
        if not user.has_role(self.role):
            raise HTTPException(
                403, Sentence("api.needsRole", role=self.role, user=user.name, own=user.role)
            )
        return user


Viewer = Annotated[CurrentUser, Depends(RequiresRole("viewer"))]
Operator = Annotated[CurrentUser, Depends(RequiresRole("operator"))]
Admin = Annotated[CurrentUser, Depends(RequiresRole("admin"))]
