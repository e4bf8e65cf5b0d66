"""`ssdpt score --explain`: a picture per clip with spectrogram, anomaly map and score."""

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
_INK, _MUTED, _GRID, _LINE, _THRESHOLD = "#16202a", "#5a6772", "#e3e8ec", "#0067a8", "#c2410c"
_INCHES = (7.5, 6.4)
_DOTS_PER_INCH = 130
_LONGEST_NAME = 120  # bytes; file systems allow 255, including number and extension


class ClipPictures:
    """A folder with one picture per clip; clips of the same name are numbered."""

    def __init__(self, folder: Path) -> None:
        """Create the folder; an SsdptError if that is not possible."""
        if folder.exists() and not folder.is_dir():
            raise SsdptError(f"{folder}: is a file; pictures need a folder, choose another name")
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._used_names: set[str] = set()

    def add(self, recording: Recording, score: Score, model: Scorer) -> Path:
        """Draw one scored clip with the model that scored it; return the path of the picture."""
        path = self.folder / f"{self._name(recording.path)}.png"
        picture = draw_clip(explain(recording, cast("Detector", model)), score)
        with atomic_path(path) as temporary:
            temporary.write_bytes(picture)
        return path

    def _name(self, clip: Path) -> str:
        """A file name that is valid, unique (ignoring case) and cannot leave the folder.

        It is as close as possible to the name of the clip's file.
        """
        plain = re.sub(r"[^\w.-]+", "_", printable(clip.stem)).strip(".")
        plain = plain.encode()[:_LONGEST_NAME].decode(errors="ignore") or "clip"
        name, number = plain, 1
        while name.casefold() in self._used_names:
            number += 1
            name = f"{plain}-{number}"
        self._used_names.add(name.casefold())
        return name


def require_maps(model: Scorer) -> None:
    """Raise an SsdptError if a model has no anomaly map."""
    if not model.explains:
        raise SsdptError(
            f"{model.machine}: this model (system {model.system_name}) cannot show where in time "
            "and frequency a clip is anomalous (exported models and some systems cannot); omit "
            "--explain or use another model"
        )


def draw_clip(explanation: Explanation, score: Score) -> bytes:
    """A PNG with spectrogram, anomaly map, score over time with threshold, and a summary."""
    with warnings.catch_warnings(), matplotlib.rc_context(style(_INK, _MUTED, _GRID)):
        # Characters of a clip's name that the font lacks are drawn as boxes.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure = Figure(figsize=_INCHES, layout="constrained")
        spectrum, anomaly, timeline = figure.subplots(3, 1, sharex=True, height_ratios=(3, 3, 2))
        draw_spectrogram(spectrum, explanation, with_map=False)
        spectrum.set_title("spectrogram: light is loud", loc="left", fontsize=9)
        draw_spectrogram(anomaly, explanation)
        anomaly.set_title(
            "anomaly map (orange), most anomalous part framed",
            loc="left",
            fontsize=9,
        )
        _draw_timeline(timeline, score)
        timeline.set_xlim(explanation.start, explanation.end)
        figure.suptitle(_summary(explanation, score), x=0.01, ha="left", fontsize=10)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=_DOTS_PER_INCH, metadata={"Software": None})
    return buffer.getvalue()


def _summary(explanation: Explanation, score: Score) -> str:
    path = Path(printable(score.path))
    verdict = f"{score.level}: score {score.value:.4g}, alert above {score.threshold:.4g}"
    lines = [
        str(Path(*path.parts[-2:])),  # the folder distinguishes clips of the same name
        f"{verdict}, p-value {score.p_value:.2g}",
        f"most anomalous: {explanation.peak_text or 'nothing'}",
        f"top bands: {explanation.band_text or 'none'}",
    ]
    return "\n".join(lines)


def _draw_timeline(axes: Axes, score: Score) -> None:
    line = score.timeline
    middle = line.start + line.duration / 2
    axes.plot(middle, line.value, color=_LINE, linewidth=1.4, marker="." if len(middle) < 3 else "")
    axes.axhline(score.threshold, color=_THRESHOLD, linewidth=1.0, linestyle=(0, (4, 2)))
    axes.set_title("score over time; dashed: alert threshold of the clip", loc="left", fontsize=9)
    axes.grid(axis="y")
    axes.set_xlabel("seconds")
