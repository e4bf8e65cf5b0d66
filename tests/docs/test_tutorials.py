"""What tutorials show whole is what the project ships."""

from __future__ import annotations

import pytest
from page_blocks import DOCS, ROOT, blocks_of


@pytest.mark.parametrize(
    ("page", "title", "file"),
    [
        ("own-detector", "own_detector/pyproject.toml", "own_detector/pyproject.toml"),
        ("own-detector", "own_detector/ssdpt_loudness.py", "own_detector/ssdpt_loudness.py"),
        ("edge-device", "score_onnx.py", "score_onnx.py"),
    ],
)
def test_the_page_shows_the_example(page: str, title: str, file: str) -> None:
    (block,) = [b for b in blocks_of(DOCS / f"tutorials/{page}.md") if b.title == title]
    assert block.code == (ROOT / "examples" / file).read_text("utf-8")
