"""One thing that was looked at on this computer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

# faulty = it is there, but does not work
State = Literal["ready", "missing", "faulty"]


@dataclass(frozen=True, slots=True)
class Finding:
    """Whether something is there, what it is for, and what to do if it is not."""

    name: str
    state: State
    detail: str  # what was found, or what it would be for
    remedy: str = ""  # empty = nothing to do
