"""Third-party Python packages, as if they were installed."""

from __future__ import annotations

import sys


def install(folder, monkeypatch, name, groups, code):
    """A module `name` with entry points by group, found for the time of a test."""
    (folder / f"{name}.py").write_text(code)
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = [
        line
        for group, points in groups.items()
        for line in (f"[{group}]", *(f"{point} = {target}" for point, target in points.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join([*lines, ""]))
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, name, raising=False)
