"""The page: built files, and index.html for paths that the page resolves itself."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from ssdpt.sentences import Sentence

_HASHED = "assets"  # folder of files with a hash of their content in the name
_API = ("v1", "metrics", "healthz", "readyz", "docs", "openapi.json")


class StaticPage(StaticFiles):
    """Answers all paths that are not routes of the API."""

    def __init__(self, folder: Path) -> None:
        super().__init__(directory=folder, check_dir=False)
        self._folder = folder

    async def check_config(self) -> None:
        """The page may be built after the server was started."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        parts = PurePosixPath(path).parts
        if scope["method"] not in ("GET", "HEAD"):
            # The page accepts no other methods: it is the address that is wrong.
            raise HTTPException(404)
        if parts[:1] and parts[0] in _API:
            raise HTTPException(404)
        try:
            response = await super().get_response(path, scope)
        except HTTPException as error:
            if PurePosixPath(path).suffix or parts[:1] == (_HASHED,):
                raise HTTPException(404) from error
            return await self._index(scope)
        if parts[:1] == (_HASHED,):
            response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        else:
            response.headers["Cache-Control"] = "no-cache"
        return response

    async def _index(self, scope: Scope) -> Response:
        try:
            response = await super().get_response("index.html", scope)
        except HTTPException as error:
            raise HTTPException(404, Sentence("api.notBuilt")) from error
        response.headers["Cache-Control"] = "no-cache"
        return response
