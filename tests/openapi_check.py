"""Checks the responses of a server against its own OpenAPI description."""

from __future__ import annotations

import re

import jsonschema


class OpenApiCheck:
    """Finds the schema of an answer by method, path and status."""

    def __init__(self, description):
        self._components = description["components"]
        self._operations = [
            (re.compile(re.sub(r"\{\w+\}", "[^/]+", path)), methods)
            for path, methods in description["paths"].items()
        ]

    def schema(self, method, path, status, media_type="application/json"):
        """The schema of an answer; None if it is described to have no JSON."""
        # A path without a parameter is more exact than one with it.
        matches = [
            (pattern.pattern.count("[^/]+"), methods)
            for pattern, methods in self._operations
            if pattern.fullmatch(path.partition("?")[0]) and method.lower() in methods
        ]
        assert matches, f"{method} {path} is not described"
        operation = min(matches, key=lambda match: match[0])[1][method.lower()]
        assert str(status) in operation["responses"], f"{method} {path}: {status} not described"
        contents = operation["responses"][str(status)].get("content", {})
        return contents.get(media_type, {}).get("schema")

    def validate(self, content, schema):
        """ValidationError if the content does not have the shape of the schema."""
        jsonschema.validate(
            content,
            {**schema, "components": self._components},
            cls=jsonschema.Draft202012Validator,
        )

    def check(self, reply):
        """An answer of an HTTP client; what is not JSON must not be described as JSON."""
        request = reply.request
        schema = self.schema(request.method, request.url.path, reply.status_code)
        if reply.headers.get("content-type", "") != "application/json":
            assert schema is None or schema == {}, f"{request.method} {request.url} is not JSON"
            return
        assert schema, f"{request.method} {request.url}: JSON that is not described"
        self.validate(reply.json(), schema)

    def check_live(self, event, data):
        """One message of the live stream."""
        schema = self.schema("GET", "/v1/live", 200, "text/event-stream")
        self.validate({"event": event, "data": data}, schema)
