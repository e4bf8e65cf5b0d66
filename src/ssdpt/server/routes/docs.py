"""Documentation of the API, made here: a plant may have no internet access."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from html import escape
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, JSONResponse

from ssdpt.server.auth import Viewer

router = APIRouter(tags=["docs"])

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
  color: #1b1f24; background: #fff; }
code { font-size: 0.95em; }
summary { padding: 0.3rem 0; cursor: pointer; }
table { border-collapse: collapse; margin: 0.5rem 0; }
td, th { text-align: left; vertical-align: top; padding: 0.2rem 1rem 0.2rem 0; }
details div { padding-left: 1.2rem; }
@media (prefers-color-scheme: dark) { body { color: #e6e8eb; background: #14171a; } }
"""


# The Content-Security-Policy allows this inline style and no other.
STYLE_HASH = f"sha256-{b64encode(sha256(_STYLE.encode()).digest()).decode()}"


@router.get("/openapi.json", include_in_schema=False)
def openapi(user: Viewer, request: Request) -> JSONResponse:
    """The OpenAPI description of the API, for programs."""
    return JSONResponse(request.app.openapi())


@router.get("/docs", include_in_schema=False, response_class=HTMLResponse)
def docs(user: Viewer, request: Request) -> HTMLResponse:
    """The documentation of the API, for people."""
    schema: dict[str, Any] = request.app.openapi()
    by_tag: dict[str, list[str]] = {}
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            by_tag.setdefault(operation["tags"][0], []).append(_operation(method, path, operation))
    introduction = "".join(
        f"<p>{escape(part)}</p>" for part in schema["info"]["description"].split("\n\n")
    )
    sections = "".join(
        f"<h2>{escape(tag)}</h2>{''.join(operations)}" for tag, operations in by_tag.items()
    )
    return HTMLResponse(
        f'<!doctype html><html lang="en"><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width"><title>ssdpt API</title>'
        f"<style>{_STYLE}</style><h1>ssdpt API {escape(schema['info']['version'])}</h1>"
        f'{introduction}<p><a href="openapi.json">openapi.json</a></p>{sections}</html>'
    )


def _operation(method: str, path: str, operation: dict[str, Any]) -> str:
    rows = [
        (item["name"], item["in"], item.get("description") or item["schema"].get("description", ""))
        for item in operation.get("parameters", ())
    ]
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        rows.append((_model_name(content.get("schema", {})) or "body", kind, ""))
    for status, reply in operation["responses"].items():
        for kind, content in reply.get("content", {}).items():
            fallback = "" if status < "400" else "error"
            rows.append((status, kind, _model_name(content.get("schema", {})) or fallback))
    table = "".join(
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows
    )
    description = escape(operation.get("description", ""))
    return (
        f"<details><summary><code>{method.upper()} {escape(path)}</code> "
        f"{escape(operation['summary'])}</summary><div><p>{description}</p><table>{table}</table>"
        f"</div></details>"
    )


def _model_name(schema: dict[str, Any]) -> str:
    """The name of what is sent or returned, as in openapi.json."""
    if "anyOf" in schema:
        return ", ".join(filter(None, map(_model_name, schema["anyOf"])))
    inner = schema.get("items", schema)
    name = str(inner.get("$ref", "")).rpartition("/")[2]
    return f"list of {name}" if name and inner is not schema else name
