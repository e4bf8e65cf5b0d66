"""What a file name says in the naming schemes of the DCASE challenges, 2020 to 2026.

    2020        normal_id_00_00000012, anomaly_id_00_00000012; evaluation: id_00_00000012
    2021        section_00_source_train_normal_0012_<attributes>; evaluation: without the label
    2022–2026   the same; evaluation: section_00_0012 or section_00_test_0012
    2025        supplemental: section_00_machine_source_0012_<attributes>, section_00_noise_0012

A name is taken as data only: whatever is not understood is kept as text, never acted on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ssdpt.data.attributes import parse_attributes
from ssdpt.types import Attributes, Domain, Label, Split

_NAME_2020 = re.compile(r"(?:(normal|anomaly)_)?id_(\d+)_(\d+)", re.IGNORECASE)
_NAME_SECTION = re.compile(r"section_(\d+)(?:_(.*))?", re.IGNORECASE)
_DOMAINS: dict[str, Domain] = {"source": "source", "target": "target"}
_SPLITS: dict[str, Split] = {"train": "train", "test": "test", "supplemental": "supplemental"}
_LABELS: dict[str, Label] = {"normal": "normal", "anomaly": "anomaly", "abnormal": "anomaly"}
_CONTENTS = frozenset({"machine", "noise"})


@dataclass(frozen=True, slots=True)
class ParsedName:
    """A DCASE file name in parts; `None` where the name has no such part."""

    section: str
    domain: Domain | None = None
    split: Split | None = None
    label: Label | None = None
    attributes: Attributes = ()


def parse_name(stem: str) -> ParsedName | None:
    """Read a file name without its ending; `None` where it is no DCASE name."""
    if match := _NAME_2020.fullmatch(stem):
        label = _LABELS[match[1].lower()] if match[1] else None
        return ParsedName(section=match[2], label=label)
    if match := _NAME_SECTION.fullmatch(stem):
        return _parse_section(match[1], (match[2] or "").split("_"))
    return None


def _parse_section(section: str, words: list[str]) -> ParsedName:
    domain: Domain | None = None
    split: Split | None = None
    label: Label | None = None
    content: Attributes = ()
    position = 0
    while position < len(words):
        word = words[position].lower()
        if word in _DOMAINS:
            domain = _DOMAINS[word]
        elif word in _SPLITS:
            split = _SPLITS[word]
        elif word in _LABELS:
            label = _LABELS[word]
        elif word in _CONTENTS:
            content = (("content", word),)
        else:
            break
        position += 1
    # The index of the clip within its section follows; it says nothing of the sound.
    if position < len(words) and words[position].isdecimal():
        position += 1
    tail = "_".join(words[position:])
    return ParsedName(section, domain, split, label, content + parse_attributes(tail))
