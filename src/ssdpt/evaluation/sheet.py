"""`ssdpt score --explain`: a picture of each clip, what was heard and what is odd in it."""

from __future__ import annotations

import io
import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, cast

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ssdpt.common.files import atomic_path, printable, writing
from ssdpt.errors import SsdptError
from ssdpt.evaluation.explanation import Explanation, explain
from ssdpt.evaluation.plots import style
from ssdpt.evaluation.spectrogram import draw_spectrogram
from ssdpt.types import Recording, Score

if TYPE_CHECKING:
    from ssdpt.detection.detector import Detector
    from ssdpt.detection.scorer import Scorer

# The light colours of the report's page.
_INK, _MUTED, _GRID, _LINE, _LIMIT = "#16202a", "#5a6772", "#e3e8ec", "#0067a8", "#c2410c"
_INCHES = (7.5, 6.4)
_DOTS_AN_INCH = 130
_LONGEST_NAME = 120  # bytes; file systems take 255 with an ending and a number


class Sheets:
    """A folder of pictures, one a clip; clips of the same name get a number each."""

    def __init__(self, folder: Path) -> None:
        """Make the folder; an SsdptError where that cannot be."""
        if folder.exists() and not folder.is_dir():
            raise SsdptError(f"{folder}: is a file; pictures go into a folder, choose another name")
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._taken: set[str] = set()

    def add(self, recording: Recording, score: Score, judge: Scorer) -> Path:
        """Draw one judged clip by the model that judged it; gives the picture's path."""
        path = self.folder / f"{self._name(recording.path)}.png"
        picture = draw_sheet(explain(recording, cast("Detector", judge)), score)
        with atomic_path(path) as temporary:
            temporary.write_bytes(picture)
        return path

    def _name(self, clip: Path) -> str:
        """A name that cannot leave the folder, and that no other clip has, in any case of letters.

        A clip keeps the name of its file as far as it goes.
        """
        plain = re.sub(r"[^\w.-]+", "_", printable(clip.stem)).strip(".")
        plain = plain.encode()[:_LONGEST_NAME].decode(errors="ignore") or "clip"
        name, number = plain, 1
        while name.casefold() in self._taken:
            number += 1
            name = f"{plain}-{number}"
        self._taken.add(name.casefold())
        return name


def require_maps(judge: Scorer) -> None:
    """An SsdptError where a model cannot show where a clip is odd."""
    if not judge.explains:
        raise SsdptError(
            f"{judge.machine}: this model (system {judge.system_name}) cannot show where in time "
            "and frequency a clip is odd, as exported models and some systems cannot; leave "
            "--explain out or take another model"
        )


def draw_sheet(shown: Explanation, score: Score) -> bytes:
    """A PNG: spectrogram, anomaly map, score in time against its threshold, bands in words."""
    with warnings.catch_warnings(), matplotlib.rc_context(style(_INK, _MUTED, _GRID)):
        # A clip's name may have letters that no font here has; they are drawn as boxes.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure = Figure(figsize=_INCHES, layout="constrained")
        heard, odd, line = figure.subplots(3, 1, sharex=True, height_ratios=(3, 3, 2))
        draw_spectrogram(heard, shown, with_map=False)
        heard.set_title("what was heard: light is loud", loc="left", fontsize=9)
        draw_spectrogram(odd, shown)
        odd.set_title(
            "what is odd in it: orange, its strongest part framed", loc="left", fontsize=9
        )
        _draw_timeline(line, score)
        line.set_xlim(shown.start, shown.end)
        figure.suptitle(_words(shown, score), x=0.01, ha="left", fontsize=10)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=_DOTS_AN_INCH, metadata={"Software": None})
    return buffer.getvalue()


def _words(shown: Explanation, score: Score) -> str:
    path = Path(printable(score.path))
    verdict = f"{score.level}: score {score.value:.4g}, alert above {score.threshold:.4g}"
    lines = [
        str(Path(*path.parts[-2:])),  # the folder tells clips of one name apart
        f"{verdict}, p-value {score.p_value:.2g}",
        f"stands out: {shown.place or 'nothing'}",
        f"top bands: {shown.band_words or 'none'}",
    ]
    return "\n".join(lines)


def _draw_timeline(axes: Axes, score: Score) -> None:
    line = score.timeline
    middle = line.start + line.duration / 2
    axes.plot(middle, line.value, color=_LINE, linewidth=1.4, marker="." if len(middle) < 3 else "")
    axes.axhline(score.threshold, color=_LIMIT, linewidth=1.0, linestyle=(0, (4, 2)))
    axes.set_title("score in time; dashed: the clip's alert threshold", loc="left", fontsize=9)
    axes.grid(axis="y")
    axes.set_xlabel("seconds")
