"""ssdpt export: write a model as one graph that scores without torch."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ssdpt.cli.command import command
from ssdpt.cli.console import REPORTER, STDOUT
from ssdpt.cli.model import Model

if TYPE_CHECKING:
    from ssdpt.fleet.fleet import Fleet
    from ssdpt.types import Recording


class RuntimeName(StrEnum):
    """The runtime that will run the graph."""

    onnx = "onnx"
    openvino = "openvino"


class PrecisionName(StrEnum):
    """How the network's weights are stored."""

    float32 = "float32"
    float16 = "float16"
    int8 = "int8"


def register(app: typer.Typer) -> None:
    """Add this command."""
    command(app, "export")(export)


def export(
    model: Model,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the exported model.")],
    format_: Annotated[
        RuntimeName, typer.Option("--format", help="onnx (ONNX Runtime) or openvino.")
    ] = RuntimeName.onnx,
    precision: Annotated[
        PrecisionName, typer.Option(help="float32 (the same scores), float16 or int8 (smaller).")
    ] = PrecisionName.float32,
    clips: Annotated[
        Path | None,
        typer.Option(help="Recordings for the comparison with torch; default: synthetic."),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(help="Labelled recordings to measure the AUC loss of float16 and int8."),
    ] = None,
    allow_loss: Annotated[
        bool, typer.Option("--allow-loss", help="Accept the loss of float16 or int8.")
    ] = False,
) -> None:
    """Write a model as one graph that scores without torch; its scores are compared with torch."""
    from ssdpt.fleet.fleet import Fleet, export_fleet
    from ssdpt.runtime.export import ExportSettings, summary

    fleet = Fleet.load(model, device="cpu")
    comparison = _by_machine(clips, fleet, "")
    labelled = _by_machine(data, fleet, "labelled test ")
    manifests = export_fleet(
        fleet,
        out,
        lambda machine: ExportSettings(
            runtime=format_.value,
            precision=precision.value,
            allow_loss=allow_loss,
            clips=comparison.get(machine, ()),
            labelled=labelled.get(machine, ()),
        ),
        reporter=REPORTER,
    )
    if precision is not PrecisionName.float32 and data is None:
        REPORTER.warn("the AUC was measured on synthetic clips; use --data LABELLED for real ones")
    for manifest in manifests.values():
        STDOUT.print(summary(manifest), markup=False)
    REPORTER.say(f"exported -> {out}")


def _by_machine(
    path: Path | None, fleet: Fleet, kind: Literal["", "labelled test "]
) -> dict[str, tuple[Recording, ...]]:
    """The recordings of a folder by machine of the fleet."""
    if path is None:
        return {}
    from ssdpt.data.layouts import read_layout
    from ssdpt.errors import SsdptError

    by_machine: dict[str, list[Recording]] = {machine: [] for machine in fleet.machines}
    for recording in read_layout(path).recordings:
        detector = fleet.for_recording(recording)
        wanted = not kind or (recording.label and recording.split != "train")
        if detector is not None and wanted:
            by_machine[detector.machine].append(recording)
    for machine, recordings in by_machine.items():
        if not recordings:
            raise SsdptError(f"{path}: no {kind}recordings of machine {machine} to compare on")
    return {machine: tuple(recordings) for machine, recordings in by_machine.items()}
