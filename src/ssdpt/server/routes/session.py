"""Signing in and out with a browser, and one's own password."""

from __future__ import annotations

import logging
import math
from functools import partial

from anyio import to_thread
from fastapi import APIRouter, Request, Response
from starlette.exceptions import HTTPException

from ssdpt.monitor.store import User
from ssdpt.sentences import Sentence
from ssdpt.server.access_rules import Anyone
from ssdpt.server.auth import LOCAL_USER, CurrentUser, Viewer
from ssdpt.server.context import AppContext, Context
from ssdpt.server.csrf import is_own_page
from ssdpt.server.schemas import OwnPasswordRequest, SessionInfo, SignInRequest
from ssdpt.server.sessions import COOKIE, DEVICE_SECONDS, csrf_token, device_cookie

LOG = logging.getLogger(__name__)
router = APIRouter(prefix="/v1/session", tags=["session"])


@router.post("")
async def sign_in(
    anyone: Anyone, body: SignInRequest, request: Request, response: Response, context: Context
) -> SessionInfo:
    """Sign in.

    Sets the cookie ssdpt_session; unsafe requests with it need the header X-CSRF-Token.
    """
    if not is_own_page(request.headers):
        raise HTTPException(403, Sentence("api.otherSite"))
    work = partial(_sign_in, context, request, response, body)
    return await to_thread.run_sync(work, limiter=context.sign_ins)


def _sign_in(
    context: AppContext, request: Request, response: Response, body: SignInRequest
) -> SessionInfo:
    device = context.store.known_device(
        body.name, request.cookies.get(device_cookie(body.name), "")
    )
    stored = _checked_password(context, request, body.name, body.password, device)
    previous = request.cookies.get(COOKIE)
    if previous:
        context.access.sessions.revoke(previous)
    user = _begin(context, request, response, stored)
    context.log(user, "signed in", _address(request))
    return _session(user)


@router.get("")
def session(user: Viewer) -> SessionInfo:
    """The user who is signed in."""
    return _session(user)


@router.put("/password")
async def change_password(
    user: Viewer,
    body: OwnPasswordRequest,
    request: Request,
    response: Response,
    context: Context,
) -> SessionInfo:
    """Change one's own password; all other sessions and the tokens of the user end."""
    if user.name == LOCAL_USER:
        raise HTTPException(409, Sentence("api.noAccount"))
    work = partial(_change_password, context, request, response, user, body)
    return await to_thread.run_sync(work, limiter=context.sign_ins)


def _change_password(
    context: AppContext,
    request: Request,
    response: Response,
    user: CurrentUser,
    body: OwnPasswordRequest,
) -> SessionInfo:
    # Whoever is signed in counts for this session alone.
    session = "a token" if user.cookie is None else csrf_token(user.cookie)
    stored = _checked_password(context, request, user.name, body.old_password, session, status=403)
    context.store.set_password(user.name, body.password)
    context.access.clear_cache()
    context.log(user, "changed the own password", user.name)
    # The browser in which it was changed stays signed in.
    return _session(_begin(context, request, response, stored))


@router.delete("", status_code=204, response_class=Response)
def sign_out(user: Viewer, context: Context) -> Response:
    """Sign out: the session ends."""
    if user.cookie is not None:
        context.access.sessions.revoke(user.cookie)
        context.log(user, "signed out", user.name)
    reply = Response(status_code=204)
    reply.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
    return reply


def _checked_password(
    context: AppContext,
    request: Request,
    name: str,
    password: str,
    device: str,
    status: int = 401,
) -> User:
    """The user, if the password is right; guessing is slowed down. `status` of the error."""
    address, attempts = _address(request), context.access.attempts
    wait = attempts.begin(name, address, device)
    if wait:
        seconds = math.ceil(wait)
        wait_first = Sentence("api.tooManyPasswords", seconds=seconds)
        raise HTTPException(429, wait_first, {"Retry-After": str(seconds)})
    stored = context.store.check_password(name, password)
    if stored is None:
        # What is no user may be a password, typed where the name belongs.
        users = {user.name for user in context.store.users()}
        whom = repr(name) if name in users else "a name that does not exist"
        LOG.warning("wrong password for %s from %s", whom, address)
        signs_in = status == 401
        wrong = Sentence("api.wrongLogin") if signs_in else Sentence("api.wrongPassword")
        raise HTTPException(status, wrong)
    attempts.succeed(name, address, device)
    return stored


def _begin(context: AppContext, request: Request, response: Response, stored: User) -> CurrentUser:
    """A new session, in a cookie; by another one this browser is known later."""
    sessions = context.access.sessions
    token = sessions.create(stored.name)
    secure = request.url.scheme == "https"
    response.set_cookie(
        COOKIE,
        token,
        max_age=int(sessions.seconds),
        path="/",
        secure=secure,
        httponly=True,
        samesite="strict",
    )
    response.set_cookie(
        device_cookie(stored.name),
        context.store.device_token(stored.name),
        max_age=DEVICE_SECONDS,
        path=router.prefix,
        secure=secure,
        httponly=True,
        samesite="strict",
    )
    return CurrentUser(stored.name, stored.role, token)


def _address(request: Request) -> str:
    return request.client.host if request.client else ""


def _session(user: CurrentUser) -> SessionInfo:
    csrf = "" if user.cookie is None else csrf_token(user.cookie)
    return SessionInfo(name=user.name, role=user.role, csrf=csrf)
