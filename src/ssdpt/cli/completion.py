"""What the shell completes: names that the package knows, and folders of models."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

# Files that only a fitted model, an exported one and a folder of models hold.
MODEL_FILES = ("calibration.json", "manifest.json", "index.json")


def topic_names(incomplete: str) -> list[str]:
    """Topics of `ssdpt help`."""
    from ssdpt.help import topics

    return _beginning(topics(), incomplete)


def preset_choices(incomplete: str) -> list[str]:
    """Presets; the shell itself completes files where none begins so."""
    from ssdpt.config.tree import preset_names

    return _beginning(preset_names(), incomplete)


def system_choices(incomplete: str) -> list[str]:
    """Systems, those of other packages too."""
    from ssdpt.systems import system_names

    return _beginning(system_names(), incomplete)


def model_folders(incomplete: str) -> list[str]:
    """Folders of models; the shell itself completes other folders where there are none."""
    folder = Path(incomplete).parent if not incomplete.endswith("/") else Path(incomplete)
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return []
    return _beginning(map(str, filter(_is_model, entries)), incomplete)


def _beginning(names: Iterable[str], start: str) -> list[str]:
    return [name for name in names if name.startswith(start)]


def _is_model(folder: Path) -> bool:
    return any((folder / name).is_file() for name in MODEL_FILES)
