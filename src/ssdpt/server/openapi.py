"""The OpenAPI description as JSON: `python -m ssdpt.server.openapi > web/openapi.json`."""

from __future__ import annotations

import json

from ssdpt.server.app import create_api


def openapi_json() -> str:
    """The description of the API; the version is left out, so that releases do not change it."""
    schema = create_api().openapi()
    schema["info"]["version"] = ""
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    print(openapi_json(), end="")
