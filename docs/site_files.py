"""A hook of MkDocs: files of the repository that pages link to become part of the site.

A page may link to `../../deploy/monitor.yaml` or `../../SECURITY.md`, as it can in the repository.
Such a file is put below `project/` of the site, a Markdown file as a page, and the link leads to it
there. So the site is whole without an outside address.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

FOLDER = "project"
_LINK = re.compile(r"(?<=\]\()([^)\s#]+)(?=[)#])")


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add what is linked to, and what those files link to in turn."""
    docs = Path(config.docs_dir).resolve()
    todo = [Path(file.abs_src_path or "") for file in files.documentation_pages()]
    seen = set(todo)
    while todo:
        page = todo.pop()
        for target in _targets(page):
            if target in seen or target.is_relative_to(docs) or not target.is_file():
                continue
            seen.add(target)
            uri = _uri(target, docs)
            file = File.generated(
                config, uri, abs_src_path=str(target), inclusion=InclusionLevel.NOT_IN_NAV
            )
            files.append(file)
            if target.suffix == ".md":
                todo.append(target)
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, **_: Any) -> str:
    """Turn the links between docs/ and the rest of the repository."""
    docs = Path(config.docs_dir).resolve()
    source = _source(page.file.src_uri, docs)

    def turned(match: re.Match[str]) -> str:
        target = _resolved(source, match.group(1))
        if target is None or not target.exists():
            return match.group(1)
        return os.path.relpath(_uri(target, docs), Path(page.file.src_uri).parent)

    return _LINK.sub(turned, markdown)


def _targets(page: Path) -> list[Path]:
    found = [_resolved(page, link) for link in _LINK.findall(page.read_text("utf-8"))]
    return [target for target in found if target is not None]


def _resolved(page: Path, link: str) -> Path | None:
    return None if re.match(r"[a-z]+:", link) else (page.parent / link).resolve()


def _uri(target: Path, docs: Path) -> str:
    """Where a file of the repository is in the sources of the site."""
    if target.is_relative_to(docs):
        return target.relative_to(docs).as_posix()
    return f"{FOLDER}/{target.relative_to(docs.parent).as_posix()}"


def _source(uri: str, docs: Path) -> Path:
    """The file that `_uri` names."""
    folder, _, rest = uri.partition("/")
    return docs.parent / rest if folder == FOLDER else docs / uri
