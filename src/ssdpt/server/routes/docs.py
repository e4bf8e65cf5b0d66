"""The API's documentation, made here: a plant may have no way to the internet."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from html import escape
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from ssdpt.server.json_response import Json

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


# How a browser is told that this style, and no other, may be in the page.
STYLE_HASH = f"sha256-{b64encode(sha256(_STYLE.encode()).digest()).decode()}"


@router.get("/openapi.json", include_in_schema=False)
def openapi(request: Request) -> Json:
    """For programs."""
    return Json(request.app.openapi())


@router.get("/docs", include_in_schema=False, response_class=HTMLResponse)
def docs(request: Request) -> HTMLResponse:
    """For people."""
    schema: dict[str, Any] = request.app.openapi()
    by_tag: dict[str, list[str]] = {}
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            by_tag.setdefault(operation["tags"][0], []).append(_operation(method, path, operation))
    about = "".join(
        f"<p>{escape(part)}</p>" for part in schema["info"]["description"].split("\n\n")
    )
    parts = "".join(f"<h2>{escape(tag)}</h2>{''.join(found)}" for tag, found in by_tag.items())
    return HTMLResponse(
        f'<!doctype html><html lang="en"><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width"><title>ssdpt API</title>'
        f"<style>{_STYLE}</style><h1>ssdpt API {escape(schema['info']['version'])}</h1>{about}"
        f'<p><a href="openapi.json">openapi.json</a></p>{parts}</html>'
    )


def _operation(method: str, path: str, operation: dict[str, Any]) -> str:
    rows = [
        (item["name"], item["in"], item.get("description") or item["schema"].get("description", ""))
        for item in operation.get("parameters", ())
    ]
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        rows.append((_shape(content.get("schema", {})) or "body", kind, ""))
    for status, reply in operation["responses"].items():
        for kind, content in reply.get("content", {}).items():
            words = "" if status < "400" else "when it cannot be done"
            rows.append((status, kind, _shape(content.get("schema", {})) or words))
    table = "".join(
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows
    )
    words = escape(operation.get("description", ""))
    return (
        f"<details><summary><code>{method.upper()} {escape(path)}</code> "
        f"{escape(operation['summary'])}</summary><div><p>{words}</p><table>{table}</table>"
        f"</div></details>"
    )


def _shape(schema: dict[str, Any]) -> str:
    """The name of what is sent or comes back, as in openapi.json."""
    inner = schema.get("items", schema)
    name = str(inner.get("$ref", "")).rpartition("/")[2]
    return f"list of {name}" if name and inner is not schema else name
