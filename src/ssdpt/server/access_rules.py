"""Who may use which route: each route declares it, and one that does not is refused at the start.

The first parameter of a route is `Viewer`, `Operator` or `Admin` of `ssdpt.server.auth`, or
`Anyone` of this file.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, FastAPI
from fastapi.routing import RouteContext, iter_route_contexts

from ssdpt.monitor.store import Role
from ssdpt.server.auth import RequiresRole

SOCKET = "WEBSOCKET"  # in place of a method


class OpenToEveryone:
    """A dependency that lets all through, for routes that nobody needs to sign in for."""

    async def __call__(self) -> None:
        """Nothing is asked, and no thread needed: health checks answer while all are busy."""


Anyone = Annotated[None, Depends(OpenToEveryone())]


class UndeclaredAccess(RuntimeError):
    """A route that does not say who may use it."""


@dataclass(frozen=True, slots=True)
class AccessRule:
    """The least role that one method of one path asks for; None: open to everyone."""

    method: str
    path: str
    role: Role | None


def access_rules(app: FastAPI) -> list[AccessRule]:
    """The rules of all routes of an application; UndeclaredAccess if one has none."""
    return [rule for route in iter_route_contexts(app.routes) for rule in _rules(route)]


def _rules(route: RouteContext) -> Iterator[AccessRule]:
    role, path = _role(route), route.path or ""
    for method in sorted(route.methods or {SOCKET}):
        yield AccessRule(method, path, role)


def _role(route: RouteContext) -> Role | None:
    # Mounted applications and plain routes of Starlette have no dependencies.
    dependant = getattr(route, "dependant", None)
    calls = [it.call for it in dependant.dependencies] if dependant is not None else []
    declared = [it for it in calls if isinstance(it, RequiresRole | OpenToEveryone)]
    if len(declared) != 1:
        raise UndeclaredAccess(
            f"{route.path}: {'no role' if not declared else 'more than one role'}; make the first "
            "parameter of the route Viewer, Operator, Admin or Anyone"
        )
    rule = declared[0]
    # Dependencies are resolved in this order: nobody learns what exists before they are recognised.
    if calls[0] is not rule:
        raise UndeclaredAccess(f"{route.path}: the role must be the first parameter of the route")
    return rule.role if isinstance(rule, RequiresRole) else None
