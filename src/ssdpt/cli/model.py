"""ssdpt fit, threshold, info: make a model, change its thresholds, show it."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ssdpt.cli.command import command
from ssdpt.cli.commission import Yes, commission_fleet, note_provisional
from ssdpt.cli.completion import model_folders, preset_choices, system_choices
from ssdpt.cli.console import REPORTER, STDOUT
from ssdpt.cli.recordings import recordings_at
from ssdpt.errors import SsdptError

if TYPE_CHECKING:
    from ssdpt.config.tree import Config
    from ssdpt.systems.parts.shared_reference import SharedReference
    from ssdpt.types import Recording

Model = Annotated[
    Path,
    typer.Argument(help="A model folder, or a folder of models.", autocompletion=model_folders),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Device = Annotated[str, typer.Option(help="auto, cpu or cuda.")]
_DEFAULT_PRESET = "default"  # chooses networks where they pay

Hop = Annotated[str | None, typer.Option(help="Frames between scored segments, or auto.")]


def register(app: typer.Typer) -> None:
    """Add these commands."""
    command(app, "fit")(fit)
    command(app, "threshold")(threshold)
    command(app, "info")(info)


def fit(
    data: Annotated[
        list[Path], typer.Argument(help="Folders of one or more machines, or CSV manifests.")
    ],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder for the model.")] = None,
    preset: Annotated[
        str,
        typer.Option(
            help="default, best, paper, fast, tiny, or a YAML file.", autocompletion=preset_choices
        ),
    ] = _DEFAULT_PRESET,
    system: Annotated[
        str | None,
        typer.Option(help="A system listed by `ssdpt systems`.", autocompletion=system_choices),
    ] = None,
    machine: Annotated[
        list[str] | None, typer.Option(help="Only this machine (may be repeated).")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of all random numbers.")] = None,
    device: Annotated[str | None, typer.Option(help="auto, cpu or cuda.")] = None,
    false_alarm_rate: Annotated[
        float | None, typer.Option(help="Share of normal clips above the alert threshold.")
    ] = None,
    channel: Annotated[
        str | None, typer.Option(help="Channel of the files, from 0, or axis by name.")
    ] = None,
    encoder: Annotated[
        Path | None,
        typer.Option(help="An ONNX file that makes a further view (ssdpt help encoders)."),
    ] = None,
    hop: Hop = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="Any setting: ssdpt.training.epochs=5.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Machines fitted in parallel; several on a GPU.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue after an interruption.")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Reject other sample rates.")] = False,
    background: Annotated[
        list[Path] | None,
        typer.Option(help="Normal sound of other machines, or of the hall (may be repeated)."),
    ] = None,
    frozen: Annotated[
        bool, typer.Option("--frozen", help="Use the networks shipped with ssdpt; train none.")
    ] = False,
    add_to: Annotated[
        Path | None, typer.Option(help="Add the machine to this model; its networks are reused.")
    ] = None,
    exclude_domain: Annotated[
        str | None, typer.Option(help="Leave out clips of this domain: source or target.")
    ] = None,
    commission: Annotated[
        list[Path] | None,
        typer.Option(
            help="Normal clips of another day, to set the thresholds by (may be repeated)."
        ),
    ] = None,
    yes: Yes = False,
) -> None:
    """Learn the normal sound of a machine from a folder of recordings."""
    import torch  # noqa: F401  fails at once if it is missing

    from ssdpt.config.tree import load_config, parse_override, with_hop
    from ssdpt.data.layouts import read_layouts, without_domain
    from ssdpt.fleet.fleet import add_to_fleet, fit_fleet, fitted, only_machines
    from ssdpt.fleet.plan import plan_fit, what_was_done

    settings: dict[str, Any] = dict(parse_override(text) for text in set_ or [])
    options = {
        "system": system,
        "seed": seed,
        "device": device,
        "audio.channel": channel,
        "decision.false_alarm_rate": false_alarm_rate,
        "encoder.file": None if encoder is None else str(encoder),
    }
    settings |= {name: value for name, value in options.items() if value is not None}
    dataset = read_layouts(data)
    for note in dataset.notes:
        REPORTER.warn(note)
    if machine:
        dataset = only_machines(dataset, machine)
    if exclude_domain is not None:
        dataset = without_domain(dataset, exclude_domain)
    if add_to is not None:
        _reject_with_add_to(
            settings,
            {
                "--out": out,
                "--preset": preset != _DEFAULT_PRESET,
                "--background": background,
                "--frozen": frozen,
                "--resume": resume,
                "--jobs": jobs,
                "--hop": hop,
                "--encoder": encoder,
            },
        )
        fleet = add_to_fleet(dataset, add_to, settings, strict=strict, reporter=REPORTER)
    else:
        if out is None:
            raise SsdptError("name a folder for the model: --out FOLDER")
        config = load_config(preset, settings)
        if hop is not None:
            config = with_hop(config, hop)
        if commission:
            _require_adaptable(config)
        plan = plan_fit(
            dataset.recordings,
            config,
            choose=preset == _DEFAULT_PRESET and "system" not in settings and not frozen,
        )
        config = plan.config
        if plan.message:
            REPORTER.say(plan.message)
        begun = time.monotonic()
        fleet = fit_fleet(
            dataset,
            config,
            out,
            resume=resume,
            strict=strict,
            jobs=jobs,
            others=_others(config, background or []),
            shared_reference=_frozen(config, background or []) if frozen else None,
            reporter=REPORTER,
        )
        done = what_was_done(
            {name: fitted(fleet, name) for name in fleet}, time.monotonic() - begun
        )
        REPORTER.say(done)
    for name, detector in fleet.items():
        alert, alarm = detector.calibration.thresholds()
        REPORTER.say(
            f"{name}: alert above {alert:.4g}, alarm above {alarm:.4g} -> {fleet.folders[name]}"
        )
    if commission:
        commission_fleet(fleet, recordings_at(commission, None, None), yes=yes, strict=strict)
    else:
        note_provisional(fleet)


def _reject_with_add_to(settings: dict[str, Any], options: dict[str, Any]) -> None:
    """A machine that is added to a model uses the model's settings and networks."""
    rejected = [name for name, value in options.items() if value]
    rejected += [
        f"{name} (a setting)"
        for name in settings
        if not name.startswith("decision.") and name not in {"seed", "device", "audio.channel"}
    ]
    if rejected:
        raise SsdptError(
            f"{rejected[0]} cannot be used with --add-to: an added machine uses the settings and "
            "networks of the model"
        )


def _require_adaptable(config: Config) -> None:
    """Refuse --commission before the fit, not after it."""
    from ssdpt.systems import system_class, systems_that

    if not system_class(config.system).adapts:
        raise SsdptError(
            f"system {config.system} cannot be commissioned, since it cannot take up new normal "
            f"clips; {systems_that('adapts')} can: omit --commission, or use one of them"
        )


def _others(config: Config, paths: list[Path]) -> list[Recording]:
    """Recordings of other machines, under names that cannot match the fitted machines."""
    from dataclasses import replace

    from ssdpt.data.layouts import read_layout
    from ssdpt.systems import system_class

    if paths and not system_class(config.system).uses_shared_reference:
        raise SsdptError(
            f"system {config.system} does not use background recordings; use preset best or "
            "system texture, or omit --background"
        )
    return [
        replace(recording, machine=f"{path}: {recording.machine}")
        for path in paths
        for recording in read_layout(path).recordings
    ]


def _frozen(config: Config, background: list[Path]) -> SharedReference:
    """The shared reference that is shipped with ssdpt, including its networks."""
    from ssdpt.systems import system_class
    from ssdpt.systems.parts.shared_reference import SharedReference

    if not system_class(config.system).trains_networks or background:
        raise SsdptError(
            "--frozen uses the networks shipped with ssdpt instead of training: use it with "
            "preset best and without --background"
        )
    return SharedReference.shipped(config, frozen=True)


def threshold(
    model: Model,
    false_alarm_rate: Annotated[
        float, typer.Option(help="Share of normal clips above the alert threshold.")
    ],
) -> None:
    """Change the thresholds of a saved model; nothing is retrained."""
    from ssdpt.fleet.fleet import Fleet

    fleet = Fleet.load(model, device="cpu")
    for name, detector in fleet.items():
        detector.calibrate(false_alarm_rate)
        detector.save_calibration(fleet.folders[name])
        alert, alarm = detector.calibration.thresholds()
        STDOUT.print(f"{name}: alert above {alert:.6g}, alarm above {alarm:.6g}", markup=False)
        least = detector.calibration.pooled.smallest_observed_rate
        if false_alarm_rate * detector.calibration.alarm_ratio < least:
            REPORTER.warn(
                f"{name}: thresholds are from {detector.calibration.pooled.clips} normal clips; "
                f"rates below {least:.2g} are extrapolated"
            )


def info(model: Model, as_json: Json = False) -> None:
    """What a model is, what it was trained on, and its thresholds."""
    from ssdpt.fleet.fleet import Fleet

    fleet = Fleet.load(model, device="cpu")
    if not as_json:
        for detector in fleet.values():
            STDOUT.print(detector.card(), markup=False)
        return
    facts = {
        name: {
            "machine": name,
            "folder": str(fleet.folders[name]),
            **detector.facts(),
            "false_alarm_rate": detector.false_alarm_rate,
            "thresholds": dict(
                zip(("alert", "alarm"), detector.calibration.thresholds(), strict=True)
            ),
        }
        for name, detector in fleet.items()
    }
    STDOUT.print(json.dumps(list(facts.values()), indent=2), markup=False)
