"""What the paper prints: the numbers of its two tables, and statements of its text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal

import yaml

from ssdpt.experiments.paper.variants import block_name

Printed = Literal["h_auc", "h_pauc"]
MEASURES: dict[Printed, str] = {"h_auc": "h-AUC", "h_pauc": "h-pAUC"}
DEFAULT_ROW = "blocks-3-64"
"""The row of Table II whose arithmetic mean equals SSDPT in Table I: taken as the same network."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A row of Table I."""

    h_auc: float
    h_pauc: float


@dataclass(frozen=True, slots=True)
class BlockRow:
    """A row of Table II."""

    blocks: int  # M
    frames: int  # P
    h_auc: Mapping[str, float]  # by machine type
    all: float
    parameters: int


@dataclass(frozen=True, slots=True)
class Statement:
    """A claim of the paper that can be tested, in our words."""

    id: str
    place: str
    says: str
    number: str  # as printed in the paper; empty if it prints none


@dataclass(frozen=True, slots=True)
class Published:
    """All printed values and statements."""

    machines: tuple[str, ...]  # in the order of Table II
    table_one: Mapping[str, Pair]  # by name of the variant
    table_two: Mapping[str, BlockRow]  # by name of the variant
    beta_range: tuple[float, float]
    statements: Mapping[str, Statement]  # by id

    def of_machine(self, variant: str, machine: str, measure: str) -> float | None:
        """The value of Table II for a machine type; None if the paper gives no value."""
        row = self.table_two.get(DEFAULT_ROW if variant == "ssdpt" else variant)
        return row.h_auc.get(machine) if row is not None and measure == "h_auc" else None

    def overall(self, variant: str, measure: str, mean: str) -> float | None:
        """The printed mean over machine types: arithmetic in Table I, harmonic in Table II."""
        if mean == "arithmetic" and measure in {"h_auc", "h_pauc"}:
            pair = self.table_one.get(variant)
            if pair is not None:
                return pair.h_auc if measure == "h_auc" else pair.h_pauc
        row = self.table_two.get(variant)
        return row.all if row is not None and (mean, measure) == ("harmonic", "h_auc") else None


@cache
def published() -> Published:
    """The values of `paper_values.yaml`, which is part of the package."""
    text = (
        resources.files("ssdpt.experiments.claims").joinpath("paper_values.yaml").read_text("utf-8")
    )
    tree = yaml.safe_load(text)
    machines = tuple(tree["machines"])
    rows = [
        BlockRow(
            blocks=row["blocks"],
            frames=row["frames"],
            h_auc=dict(zip(machines, row["h_auc"], strict=True)),
            all=row["all"],
            parameters=row["parameters"],
        )
        for row in tree["table_two"]
    ]
    statements = [Statement(**{"number": "", **entry}) for entry in tree["statements"]]
    low, high = tree["beta_range"]
    return Published(
        machines=machines,
        table_one={name: Pair(*pair) for name, pair in tree["table_one"].items()},
        table_two={block_name(row.blocks, row.frames): row for row in rows},
        beta_range=(low, high),
        statements={statement.id: statement for statement in statements},
    )
