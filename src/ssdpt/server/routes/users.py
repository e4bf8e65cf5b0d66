"""Users and their roles."""

from __future__ import annotations

from dataclasses import asdict

from fastapi import APIRouter, Response
from starlette.exceptions import HTTPException

from ssdpt.server.auth import LOCAL, Admin
from ssdpt.server.context import Context
from ssdpt.server.json_response import Json
from ssdpt.server.schemas import NewUser, UserWords

router = APIRouter(prefix="/v1/users", tags=["users"])


@router.get("", response_model=list[UserWords])
def users(who: Admin, room: Context) -> Json:
    """Everyone who may come in."""
    return Json([asdict(user) for user in room.store.users()])


@router.post("", response_model=UserWords, status_code=201)
def add_user(who: Admin, wanted: NewUser, room: Context) -> Json:
    """Let someone in."""
    if wanted.role != "admin" and not room.store.users():
        raise HTTPException(409, "the first user must be an admin, or nobody could add others")
    if wanted.name == LOCAL:
        raise HTTPException(
            409, f"'{LOCAL}' is what people are called without users; choose another"
        )
    room.store.add_user(wanted.name, wanted.role, wanted.password)
    room.guard.forget()
    room.log(who, f"added the {wanted.role}", wanted.name)
    return Json({"name": wanted.name, "role": wanted.role}, 201)


@router.delete("/{name}", status_code=204, response_class=Response)
def remove_user(who: Admin, name: str, room: Context) -> Response:
    """Shut someone out; their logins and tokens end."""
    roles = {user.name: user.role for user in room.store.users()}
    if name not in roles:
        raise HTTPException(404, "there is no such user")
    if list(roles.values()).count("admin") == 1 and roles[name] == "admin":
        raise HTTPException(409, f"{name} is the only admin; make another one first")
    room.store.remove_user(name)
    room.guard.forget()
    room.log(who, "removed the user", name)
    return Response(status_code=204)
