"""Users and their roles."""

from __future__ import annotations

from fastapi import APIRouter, Response
from starlette.exceptions import HTTPException

from ssdpt.sentences import Sentence
from ssdpt.server.auth import LOCAL_USER, Admin
from ssdpt.server.context import AppContext, Context
from ssdpt.server.schemas import PasswordRequest, RoleRequest, UserInfo, UserRequest

router = APIRouter(prefix="/v1/users", tags=["users"])


@router.get("")
def users(user: Admin, context: Context) -> list[UserInfo]:
    """All users."""
    return [UserInfo(name=stored.name, role=stored.role) for stored in context.store.users()]


@router.post("", status_code=201)
def add_user(user: Admin, body: UserRequest, context: Context) -> UserInfo:
    """Add a user."""
    if body.role != "admin" and not context.store.users():
        raise HTTPException(409, Sentence("api.adminFirst"))
    if body.name == LOCAL_USER:
        raise HTTPException(409, Sentence("api.reservedName", name=LOCAL_USER))
    context.store.add_user(body.name, body.role, body.password)
    context.access.clear_cache()
    context.log(user, f"added the {body.role}", body.name)
    return UserInfo(name=body.name, role=body.role)


@router.put("/{name}/role")
def set_role(user: Admin, name: str, body: RoleRequest, context: Context) -> UserInfo:
    """Give a user another role; it holds at once."""
    if body.role != "admin":
        _check_not_the_only_admin(context, name)
    context.store.set_role(name, body.role)
    context.access.clear_cache()
    context.log(user, f"gave the role {body.role} to", name)
    return UserInfo(name=name, role=body.role)


@router.put("/{name}/password", status_code=204, response_class=Response)
def reset_password(user: Admin, name: str, body: PasswordRequest, context: Context) -> Response:
    """Set a new password for someone who has lost theirs; their sessions and tokens end.

    One's own password is changed at /v1/session/password, which asks for the old one.
    """
    if name == user.name:
        raise HTTPException(409, Sentence("api.ownPassword"))
    context.store.set_password(name, body.password)
    context.access.clear_cache()
    context.log(user, "reset the password of", name)
    return Response(status_code=204)


@router.delete("/{name}", status_code=204, response_class=Response)
def remove_user(user: Admin, name: str, context: Context) -> Response:
    """Remove a user; their sessions and tokens end."""
    _check_not_the_only_admin(context, name)
    context.store.remove_user(name)
    context.access.clear_cache()
    context.log(user, "removed the user", name)
    return Response(status_code=204)


def _check_not_the_only_admin(context: AppContext, name: str) -> None:
    """Somebody must remain who can do everything; 404 where there is no such user."""
    roles = {stored.name: stored.role for stored in context.store.users()}
    if name not in roles:
        raise HTTPException(404, Sentence("api.noUser"))
    if roles[name] == "admin" and list(roles.values()).count("admin") == 1:
        raise HTTPException(409, Sentence("api.onlyAdmin", name=name))
