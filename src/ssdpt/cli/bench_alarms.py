"""ssdpt bench, the part on alarms: from scores and changes to what a person is told."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from ssdpt.cli.bench_options import Machines, Preset, Set, bench_config, print_result, share_text
from ssdpt.cli.command import command
from ssdpt.cli.console import REPORTER, STDOUT, print_rows
from ssdpt.cli.model import Json


def register(app: typer.Typer) -> None:
    """Add these commands."""
    command(app, "alerts")(alerts)
    command(app, "commissioning")(commissioning)
    command(app, "findings")(findings)
    command(app, "early-faults")(early_faults)
    command(app, "change-limits")(change_limits)
    command(app, "recognise")(recognise)


def change_limits(
    data: Annotated[Path, typer.Argument(help="Machines recorded until they failed.")],
    snapshot: Annotated[
        float | None, typer.Option(min=0.001, help="Seconds of one snapshot.")
    ] = None,
    every: Annotated[
        float | None, typer.Option(min=0.001, help="Seconds from one snapshot to the next.")
    ] = None,
) -> None:
    """Limits of change on runs to failure: each varied, and each run left out of the choice."""
    from ssdpt.bench.change_limits import bench_change_limits

    counts, left_out = bench_change_limits(data, snapshot=snapshot, every=every, reporter=REPORTER)
    print_rows([entry.row() for entry in counts])
    STDOUT.print()
    print_rows([entry.row() for entry in left_out])


def alerts(
    weeks: Annotated[
        int, typer.Option(min=1, help="Weeks of normal scores to test the thresholds on.")
    ] = 36,
    days: Annotated[
        list[int] | None,
        typer.Option("--after", min=0, help="Days of monitoring (may be repeated): 0, 1, 7, 28."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the scores.")] = 0,
    as_json: Json = False,
) -> None:
    """False alerts: requested and measured alerts per week, after some days of monitoring."""
    from ssdpt.bench.alerts import DAYS, bench_alerts

    result = bench_alerts(weeks, seed, sorted(set(days or DAYS)), REPORTER)
    if as_json:
        print_result(result, as_json)
        return
    lines: dict[tuple[str, int], dict[str, str]] = {}
    for row in result["rows"]:
        first = {"scores": row["scores"], "days": str(row["days"])}
        line = lines.setdefault((row["scores"], row["days"]), first)
        line[f"{row['requested']:g} requested per week"] = f"{row['observed']:.2g}"
    print_rows(list(lines.values()))


def commissioning(
    data: Annotated[list[Path], typer.Argument(help="Machines with labelled test clips.")],
    system: Annotated[str, typer.Option(help="The system to fit.")] = "texture",
    preset: Annotated[str, typer.Option(help="default, best, or a YAML file.")] = "default",
    clips: Annotated[
        int, typer.Option(min=5, help="Normal test clips per section to commission with.")
    ] = 10,
    faulty: Annotated[
        int, typer.Option(min=0, help="How many of these are faults that nobody noticed.")
    ] = 0,
    drawn: Annotated[
        bool, typer.Option("--drawn", help="Draw them at random by the seed; not the first ones.")
    ] = False,
    seeds: Annotated[int, typer.Option(min=1, help="Number of fits per machine.")] = 3,
    together: Annotated[
        bool, typer.Option("--together", help="All machines learn from each other first.")
    ] = False,
    set_: Set = None,
    as_json: Json = False,
) -> None:
    """Commissioning: false alarms and detections on real clips, before and after."""
    from ssdpt.bench.commissioning import bench_commissioning

    result = bench_commissioning(
        bench_config(preset, set_, fixed={"system": system}),
        data,
        seeds=seeds,
        clips=clips,
        faulty=faulty,
        drawn=drawn,
        together=together,
        reporter=REPORTER,
    )
    if as_json:
        print_result(result, as_json)
        return
    totals = [
        {"machine": "all", "section": "", "seed": "mean", "rate": float(rate), **total}
        for rate, total in result["totals"].items()
    ]
    print_rows([_commissioning_row(row) for row in [*result["rows"], *totals]])


def findings(
    system: Annotated[str, typer.Option(help="The system that detects the faults.")] = "texture",
    preset: Preset = "fast",
    machine: Machines = None,
    seeds: Annotated[int, typer.Option(min=1, help="Number of simulated plants.")] = 3,
    train: Annotated[
        int, typer.Option(min=3, help="Normal clips of each specimen to learn from.")
    ] = 40,
    clips: Annotated[int, typer.Option(min=1, help="Faulty clips of each specimen.")] = 15,
    set_: Set = None,
    as_json: Json = False,
) -> None:
    """Findings: how often the frequency named at an alert is that of the simulated fault."""
    from ssdpt.bench.findings import bench_findings

    config = bench_config(preset, set_, fixed={"system": system})
    result = bench_findings(
        config, machine or [], train=train, clips=clips, seeds=seeds, reporter=REPORTER
    )
    if as_json:
        print_result(result, as_json)
        return
    rows = []
    for name, of_machine in result["machines"].items():
        rows += [_naming(name, fault, row) for fault, row in of_machine["faults"].items()]
        rows.append(_naming(name, "all", of_machine))
    print_rows([*rows, _naming("all", "all", result)])
    codes = ", ".join(f"{code or 'nothing'} {count}" for code, count in result["codes"].items())
    lines = [
        f"{result['detected']} of {result['faulty']} faulty clips detected; named first: {codes}",
        f"findings on {result['normal_clips']} other normal clips: "
        f"{result['normal_with_findings']} without an alert, "
        f"{result['normal_with_findings_at_alert']} if each were a false alert",
    ]
    for line in lines:
        STDOUT.print(line, markup=False)


def recognise(
    machine: Machines = None,
    seeds: Annotated[
        list[int] | None,
        typer.Option("--seed", min=0, help="A simulated plant (may be repeated): 10, 11, 12."),
    ] = None,
    times: Annotated[int, typer.Option(min=2, help="Events of each fault.")] = 4,
    as_json: Json = False,
) -> None:
    """Recognition: how often a fault that was named before gets its name again, or a wrong one."""
    from ssdpt.bench.recognise import bench_recognise

    result = bench_recognise(
        machine or [], times=times, seeds=seeds or (10, 11, 12), reporter=REPORTER
    )
    if as_json:
        print_result(result, as_json)
        return
    rows = [("all", limit, row) for limit, row in result["limits"].items()]
    rows += [(name, f"{result['limit']:g}", row) for name, row in result["machines"].items()]
    print_rows(
        [
            {
                "machine": name,
                "limit": limit,
                "events": str(row["events"]),
                "right": share_text(row["right"]),
                "wrong": share_text(row["wrong"]),
                "new fault, given a name": share_text(row["new_named"]),
            }
            for name, limit, row in rows
        ]
    )


def _naming(machine: str, fault: str, row: Mapping[str, Any]) -> dict[str, str]:
    return {
        "machine": machine,
        "fault": fault,
        "detected": str(row["detected"]),
        "frequency right": str(row["named"]),
        "share": share_text(row["share"]),
        "by chance": share_text(row["by_chance"]),
        "rate right": f"{row['rates_right']} of {row['rates']}",
    }


def _commissioning_row(row: dict[str, Any]) -> dict[str, str]:
    line = {
        "machine": row["machine"],
        "section": row["section"],
        "seed": str(row["seed"]),
        "requested": f"{100 * row['rate']:g} %",
    }
    for when in ("before", "after"):
        for name, title in (("normals", "normal"), ("anomalies", "faulty")):
            line[f"{title} above {when}"] = f"{row[when][name]:.4g} of {row[name]:.4g}"
    return line


def early_faults(
    normal: Annotated[Path, typer.Argument(help="Folder of normal recordings of one machine.")],
    faulty: Annotated[list[Path], typer.Argument(help="Folders of recordings of its faults.")],
    minutes: Annotated[float, typer.Option(min=1, help="Minutes that it learns.")] = 5.0,
    seeds: Annotated[
        list[int] | None,
        typer.Option("--seed", min=0, help="Choice of what is learned (may be repeated)."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Early faults: seconds until a fault is an alert, live, after a few minutes of learning."""
    from ssdpt.bench.early_faults import bench_early_faults

    result = bench_early_faults(
        normal, faulty, minutes=minutes, seeds=seeds or [0, 1, 2], reporter=REPORTER
    )
    if as_json:
        print_result(result, as_json)
        return
    print_rows(
        [
            {
                "seed": str(row["seed"]),
                "recording": row["recording"],
                "alert after s": _seconds(row["alert_after"]),
                "by": row["rule"],
                "highest score": "" if (high := row["highest_score"]) is None else f"{high:.1f}",
                "threshold": f"{row['threshold']:.1f}",
                "after normal sound, s": _seconds(row["alert_after_normal"]),
                "asked": "yes" if row["asked"] else "",
            }
            for row in result["rows"]
        ]
    )


def _seconds(value: float | None) -> str:
    return "none" if value is None else f"{value:.0f}"
