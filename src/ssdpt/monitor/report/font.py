"""Fonts of this computer for PDF files, which must carry the letters that they show."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

# In order of preference. Regular and bold; None: the regular one is used for both.
_LATIN = (
    ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf"),
    ("NotoSans-Regular.ttf", "NotoSans-Bold.ttf"),
    ("LiberationSans-Regular.ttf", "LiberationSans-Bold.ttf"),
    ("arial.ttf", "arialbd.ttf"),
    ("Arial.ttf", "Arial Bold.ttf"),
)
_JAPANESE = (
    ("NotoSansCJK-Regular.ttc", "NotoSansCJK-Bold.ttc"),
    ("NotoSansJP-Regular.ttf", "NotoSansJP-Bold.ttf"),
    ("NotoSansCJKjp-Regular.otf", "NotoSansCJKjp-Bold.otf"),
    ("ipaexg.ttf", None),
    ("ipag.ttf", None),
    ("TakaoPGothic.ttf", None),
    ("YuGothR.ttc", "YuGothB.ttc"),
    ("meiryo.ttc", "meiryob.ttc"),
    ("msgothic.ttc", None),
    ("Arial Unicode.ttf", None),
)


@dataclass(frozen=True, slots=True)
class FontFiles:
    """The files of one font."""

    regular: Path
    bold: Path


@cache
def latin_font() -> FontFiles | None:
    """With the letters of European languages; None where there is none."""
    return _first(_LATIN)


@cache
def japanese_font() -> FontFiles | None:
    """With Japanese letters, and Latin ones; None where there is none."""
    return _first(_JAPANESE)


def _first(choices: tuple[tuple[str, str | None], ...]) -> FontFiles | None:
    names = {name for pair in choices for name in pair}
    found = {
        path.name: path for folder in _folders() for path in _files(folder) if path.name in names
    }
    for regular, bold in choices:
        if regular in found:
            return FontFiles(found[regular], found.get(bold or regular, found[regular]))
    return None


def _folders() -> Iterator[Path]:
    # The data of matplotlib first, so that those of the computer take their place.
    matplotlib = find_spec("matplotlib")
    if matplotlib is not None and matplotlib.origin is not None:
        yield Path(matplotlib.origin).parent / "mpl-data" / "fonts" / "ttf"
    if sys.platform == "win32":
        yield Path("C:/Windows/Fonts")
    elif sys.platform == "darwin":
        yield from (Path("/System/Library/Fonts"), Path("/Library/Fonts"))
    else:
        yield from (Path("/usr/share/fonts"), Path("/usr/local/share/fonts"))
    yield Path.home() / ".local" / "share" / "fonts"


def _files(folder: Path) -> Iterator[Path]:
    return folder.rglob("*.[to]t[fc]") if folder.is_dir() else iter(())
