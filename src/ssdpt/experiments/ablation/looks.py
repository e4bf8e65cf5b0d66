"""The log of looks: every variant whose scores were compared with the labels of test clips.

Each look makes it more likely that the best figure is best by chance, so their number belongs
beside it. A line of JSON per look; the same settings on the same clips are one look.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ssdpt.common.files import write_text
from ssdpt.errors import SsdptError
from ssdpt.experiments.report.table_formats import MISSING, Table, TableRow, markdown


@dataclass(frozen=True, slots=True)
class Look:
    """One variant and its official 2022 score on every set, a mean over the seeds."""

    key: str  # of settings, clips and seeds
    variant: str
    settings: Mapping[str, Any]  # what differs from the recipe
    fitted: str  # together or alone
    seeds: int
    figures: Mapping[str, float]  # by set
    command: str
    date: str = ""  # YYYY-MM-DD, UTC; set when it is added


class LookLog:
    """The looks of a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> list[Look]:
        """All looks, oldest first; none where there is no file yet."""
        try:
            lines = self.path.read_text("utf-8").splitlines()
        except FileNotFoundError:
            return []
        except (OSError, UnicodeDecodeError) as error:
            raise SsdptError(f"{self.path}: the log of looks cannot be read: {error}") from error
        looks = []
        for number, line in enumerate(lines, start=1):
            try:
                looks.append(Look(**json.loads(line)))
            except (ValueError, TypeError) as error:
                raise SsdptError(
                    f"{self.path}, line {number}: not a look; correct the line or remove it"
                ) from error
        return looks

    def add(self, looks: Iterable[Look]) -> int:
        """Append those that are not there yet; gives their number, and writes the table beside."""
        known = self.read()
        keys = {look.key for look in known}
        today = datetime.now(tz=UTC).date().isoformat()
        new = []
        for look in looks:
            if look.key not in keys:
                keys.add(look.key)
                new.append(Look(**{**asdict(look), "date": today}))
        every = [*known, *new]
        text = "".join(json.dumps(asdict(look), ensure_ascii=False) + "\n" for look in every)
        write_text(self.path, text)
        write_text(self.path.with_suffix(".md"), markdown(looks_table(every)))
        return len(new)


def looks_table(looks: Iterable[Look]) -> Table:
    """The looks as a table of the docs, a column per set."""
    looks = list(looks)
    sets = list(dict.fromkeys(name for look in looks for name in look.figures))
    rows = []
    for look in looks:
        figures = [look.figures.get(name) for name in sets]
        known = [figure for figure in figures if figure is not None]
        rows.append(
            TableRow(
                (
                    look.date,
                    _what(look),
                    look.fitted,
                    str(look.seeds),
                    *(MISSING if figure is None else f"{figure:.3f}" for figure in figures),
                    f"{sum(known) / len(known):.3f}" if known else MISSING,
                )
            )
        )
    return Table(
        "looks",
        "Looks at the labels of test clips",
        ("date", "variant", "fitted", "seeds", *sets, "mean"),
        tuple(rows),
        (f"{len(rows)} looks. Official 2022 score of each set, mean over the seeds.",),
    )


def _what(look: Look) -> str:
    settings = ", ".join(f"{name}={value}" for name, value in look.settings.items())
    return f"{look.variant}: {settings}" if settings else look.variant
