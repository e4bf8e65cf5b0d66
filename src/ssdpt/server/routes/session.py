"""Logging in and out of a browser."""

from __future__ import annotations

import logging
import math

from fastapi import APIRouter, Request, Response
from starlette.exceptions import HTTPException

from ssdpt.server.auth import Viewer, Who
from ssdpt.server.context import Context
from ssdpt.server.csrf import is_own_page
from ssdpt.server.json_response import Json
from ssdpt.server.schemas import Login, SessionWords
from ssdpt.server.sessions import COOKIE, csrf_of

LOG = logging.getLogger(__name__)
router = APIRouter(prefix="/v1/session", tags=["session"])


@router.post("", response_model=SessionWords)
def log_in(login: Login, request: Request, room: Context) -> Json:
    """Sets the cookie ssdpt_session; unsafe requests with it need the header X-CSRF-Token."""
    if not is_own_page(request.headers):
        raise HTTPException(403, "this request comes from another site's page")
    address = request.client.host if request.client else ""
    wait = room.guard.attempts.begin(login.name, address)
    if wait:
        seconds = math.ceil(wait)
        raise HTTPException(
            429, f"too many wrong passwords; wait {seconds} s", {"Retry-After": str(seconds)}
        )
    user = room.store.check_password(login.name, login.password)
    if user is None:
        LOG.warning("a wrong password for %r from %s", login.name, address)
        raise HTTPException(401, "the name or the password is wrong")
    room.guard.attempts.succeed(login.name, address)
    old = request.cookies.get(COOKIE)
    if old:
        room.guard.sessions.end(old)
    token = room.guard.sessions.begin(user.name)
    who = Who(user.name, user.role, token)
    room.log(who, "logged in", address)
    reply = Json(_told(who))
    reply.set_cookie(
        COOKIE,
        token,
        max_age=int(room.guard.sessions.seconds),
        path="/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )
    return reply


@router.get("", response_model=SessionWords)
def session(who: Viewer) -> Json:
    """Who you are."""
    return Json(_told(who))


@router.delete("", status_code=204, response_class=Response)
def log_out(who: Viewer, room: Context) -> Response:
    """The cookie holds no longer."""
    if who.cookie is not None:
        room.guard.sessions.end(who.cookie)
        room.log(who, "logged out", who.name)
    reply = Response(status_code=204)
    reply.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
    return reply


def _told(who: Who) -> dict[str, str]:
    csrf = "" if who.cookie is None else csrf_of(who.cookie)
    return {"name": who.name, "role": who.role, "csrf": csrf}
