"""Model folders of older formats, read as if they were of the newest.

From this release on every older format stays readable: a change of what a model folder holds adds
its step here. A format that a system cannot read at all is refused by `SystemEntry.oldest_format`.

format 1   the first
format 2   Gaussians of time-weighted spectra: nothing to rename
format 3   plain names for the parts of hand-made views and shared networks, and for the list of
           recordings; local outlier factors are computed from the references
format 4   thresholds say how many recordings they rest on: nothing to rename, unknown before
format 5   hand-made views describe a clip second by second; before, the whole clip at once
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

_ARRAYS = (  # format 2 to 3
    (re.compile(r"^background/ears/"), "shared_reference/networks/"),
    (re.compile(r"^background/"), "shared_reference/"),
    (re.compile(r"/absorbed-(\d+)/"), r"/added-\1/"),
    (re.compile(r"/loneliness$"), "/neighbour_distance"),
)
_DERIVED = frozenset({"reach", "density"})  # of local outlier factors, until format 2


def upgraded_head(
    number: int, settings: dict[str, Any], description: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Settings, and the description of the system, of a model of format `number`."""
    if number < 3:
        if "background_clips" in settings.get("texture", {}):
            _rename(settings["texture"], "background_clips", "reference_clips")
        _rename(description, "hears", "front_end")
        _rename(description, "background", "shared_reference")
        _rename(description, "portraits", "section_models")
        for views in description.get("section_models", {}).values():
            for view in views.values():
                view["added"] = view.pop("absorbed", [])
    if number < 5:
        texture = settings.get("texture", {})
        texture["seconds"] = None
        for name in ("emphasis", "weights"):  # what they did is in the arrays
            texture.pop(name, None)
        for views in description.get("section_models", {}).values():
            for view in views.values():
                view["averaged"] = False
    return settings, description


def upgraded_arrays(number: int, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays of a model of format `number`."""
    if number >= 3:
        return dict(arrays)
    renamed = {}
    for name, value in arrays.items():
        if name not in _DERIVED:
            for old, new in _ARRAYS:
                name = old.sub(new, name)
            renamed[name] = value
    return renamed


def upgraded_data(number: int, data: dict[str, Any]) -> dict[str, Any]:
    """The content of data.json of a model of format `number`."""
    if number < 4:  # the first models of format 3 still had the old name
        _rename(data, "heard", "recordings")
    return data


def _rename(tree: dict[str, Any], old: str, new: str) -> None:
    if old in tree:
        tree[new] = tree.pop(old)
