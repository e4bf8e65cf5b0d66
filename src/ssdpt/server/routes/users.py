"""Users and their roles."""

from __future__ import annotations

from fastapi import APIRouter, Response
from starlette.exceptions import HTTPException

from ssdpt.server.auth import LOCAL_USER, Admin
from ssdpt.server.context import Context
from ssdpt.server.schemas import UserInfo, UserRequest

router = APIRouter(prefix="/v1/users", tags=["users"])


@router.get("")
def users(user: Admin, context: Context) -> list[UserInfo]:
    """All users."""
    return [UserInfo(name=stored.name, role=stored.role) for stored in context.store.users()]


@router.post("", status_code=201)
def add_user(user: Admin, body: UserRequest, context: Context) -> UserInfo:
    """Add a user."""
    if body.role != "admin" and not context.store.users():
        raise HTTPException(409, "create an admin first; only an admin can add other users")
    if body.name == LOCAL_USER:
        raise HTTPException(
            409, f"'{LOCAL_USER}' is the name of people without an account; choose another"
        )
    context.store.add_user(body.name, body.role, body.password)
    context.access.clear_cache()
    context.log(user, f"added the {body.role}", body.name)
    return UserInfo(name=body.name, role=body.role)


@router.delete("/{name}", status_code=204, response_class=Response)
def remove_user(user: Admin, name: str, context: Context) -> Response:
    """Remove a user; their sessions and tokens end."""
    roles = {stored.name: stored.role for stored in context.store.users()}
    if name not in roles:
        raise HTTPException(404, "there is no such user")
    if list(roles.values()).count("admin") == 1 and roles[name] == "admin":
        raise HTTPException(409, f"{name} is the only admin; create another admin first")
    context.store.remove_user(name)
    context.access.clear_cache()
    context.log(user, "removed the user", name)
    return Response(status_code=204)
