"""Signing in and out with a browser."""

from __future__ import annotations

import logging
import math

from fastapi import APIRouter, Request, Response
from starlette.exceptions import HTTPException

from ssdpt.server.auth import CurrentUser, Viewer
from ssdpt.server.context import Context
from ssdpt.server.csrf import is_own_page
from ssdpt.server.schemas import SessionInfo, SignInRequest
from ssdpt.server.sessions import COOKIE, csrf_token

LOG = logging.getLogger(__name__)
router = APIRouter(prefix="/v1/session", tags=["session"])


@router.post("")
def sign_in(
    body: SignInRequest, request: Request, response: Response, context: Context
) -> SessionInfo:
    """Sign in.

    Sets the cookie ssdpt_session; unsafe requests with it need the header X-CSRF-Token.
    """
    if not is_own_page(request.headers):
        raise HTTPException(403, "this request comes from a page of another site")
    address = request.client.host if request.client else ""
    access = context.access
    wait = access.attempts.begin(body.name, address)
    if wait:
        seconds = math.ceil(wait)
        raise HTTPException(
            429, f"too many wrong passwords; wait {seconds} s", {"Retry-After": str(seconds)}
        )
    stored = context.store.check_password(body.name, body.password)
    if stored is None:
        LOG.warning("wrong password for %r from %s", body.name, address)
        raise HTTPException(401, "the name or the password is wrong")
    access.attempts.succeed(body.name, address)
    previous = request.cookies.get(COOKIE)
    if previous:
        access.sessions.revoke(previous)
    token = access.sessions.create(stored.name)
    user = CurrentUser(stored.name, stored.role, token)
    context.log(user, "signed in", address)
    response.set_cookie(
        COOKIE,
        token,
        max_age=int(access.sessions.seconds),
        path="/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )
    return _session(user)


@router.get("")
def session(user: Viewer) -> SessionInfo:
    """The user who is signed in."""
    return _session(user)


@router.delete("", status_code=204, response_class=Response)
def sign_out(user: Viewer, context: Context) -> Response:
    """Sign out: the session ends."""
    if user.cookie is not None:
        context.access.sessions.revoke(user.cookie)
        context.log(user, "signed out", user.name)
    reply = Response(status_code=204)
    reply.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
    return reply


def _session(user: CurrentUser) -> SessionInfo:
    csrf = "" if user.cookie is None else csrf_token(user.cookie)
    return SessionInfo(name=user.name, role=user.role, csrf=csrf)
