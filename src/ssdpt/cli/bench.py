"""ssdpt bench: speed on this machine, quality against hop, accuracy of maps and thresholds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ssdpt.cli import bench_alarms, bench_quality, bench_service
from ssdpt.cli.bench_options import (
    Machines,
    Preset,
    Seconds,
    Set,
    bench_config,
    print_result,
    share_text,
)
from ssdpt.cli.command import Group, command, everywhere
from ssdpt.cli.console import REPORTER, STDOUT, print_rows
from ssdpt.cli.model import Device, Json

app = typer.Typer(
    help="Benchmarks of speed and quality, compared with a reference in the same run.",
    no_args_is_help=True,
    cls=Group,
)
app.callback()(everywhere)


def train(
    device: Device = "auto",
    batch: Annotated[int | None, typer.Option(min=2, help="Segments per update.")] = None,
    blocks: Annotated[int, typer.Option(help="Number of blocks, M.")] = 3,
    frames: Annotated[int, typer.Option(help="Frames per segment, P.")] = 64,
    seconds: Seconds = 10.0,
    compiled: Annotated[
        bool, typer.Option("--compiled", help="Also torch's compiler without our kernels.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Training: segments per second of the published loop and of ours."""
    from ssdpt.bench.train import bench_train
    from ssdpt.training.loop import choose_device

    size = batch or (128 if choose_device(device).type == "cuda" else 16)
    print_result(bench_train(device, size, blocks, frames, seconds, compiled), as_json)


def score(device: Device = "auto", seconds: Seconds = 4.0, as_json: Json = False) -> None:
    """Scoring: seconds per ten-second clip in every runtime, and of the matrix products alone."""
    from ssdpt.bench.score import bench_score

    print_result(bench_score(device, seconds), as_json)


def features(seconds: Seconds = 4.0, as_json: Json = False) -> None:
    """Features: seconds to decode and transform a ten-second clip, and for a whole folder."""
    from ssdpt.bench.features import bench_features

    print_result(bench_features(seconds), as_json)


def fleet(
    device: Device = "auto",
    batch: Annotated[int, typer.Option(min=2, help="Segments per update.")] = 128,
    epochs: Annotated[int, typer.Option(help="Passes over the training segments.")] = 30,
    jobs: Annotated[int | None, typer.Option(min=1, help="Networks trained in parallel.")] = None,
    as_json: Json = False,
) -> None:
    """A whole data set: train seven machine types, score 8,400 clips at hop 1."""
    from ssdpt.bench.fleet import bench_fleet

    print_result(bench_fleet(device, batch, epochs, jobs, REPORTER), as_json)


def hop(
    preset: Preset = "fast",
    data: Annotated[
        Path | None, typer.Option(help="Labelled recordings; default: simulate the demo's plant.")
    ] = None,
    machine: Machines = None,
    set_: Set = None,
    as_json: Json = False,
) -> None:
    """Hop: time saved and AUC lost by scoring fewer segments."""
    from ssdpt.bench.hop import bench_hop

    result = bench_hop(bench_config(preset, set_), data, machine or [], REPORTER)
    if as_json:
        print_result(result, as_json)
        return
    rows = [
        {
            "hop": frames,
            "h-AUC": f"{point['h_auc']:.4f}",
            "h-pAUC": f"{point['h_pauc']:.4f}",
            "h-AUC lost": f"{point['lost']:.4f}",
            "95 %": f"{point['lost_low']:.4f} to {point['lost_high']:.4f}",
            "ms for 10 s": f"{1000 * point['seconds']:.2f}",
        }
        for frames, point in result["hops"].items()
    ]
    print_rows(rows)
    largest, tolerance = result["auto"], result["tolerance"]
    STDOUT.print(f"hop {largest} is the largest that loses at most {tolerance:g}", markup=False)


def explain(
    system: Annotated[str | None, typer.Option(help="A system listed by `ssdpt systems`.")] = None,
    preset: Preset = "fast",
    plant: Annotated[str, typer.Option(help="Preset of the plant: demo, smoke, …")] = "demo",
    data: Annotated[
        Path | None, typer.Option(help="A simulated plant on disk; default: simulate one.")
    ] = None,
    machine: Machines = None,
    set_: Set = None,
    as_json: Json = False,
) -> None:
    """Explanations: how often the anomaly map of a detected fault has its peak in the fault."""
    from ssdpt.bench.explain import bench_explain

    fixed = {} if system is None else {"system": system}
    config = bench_config(preset, set_, fixed=fixed)
    result = bench_explain(config, plant, data, machine or [], REPORTER)
    if as_json:
        print_result(result, as_json)
        return
    print_rows(
        [
            {
                "machine": name,
                "faulty": str(summary["faulty"]),
                "detected": str(summary["detected"]),
                "peak in the fault": share_text(summary["hit_rate"]),
                "by chance": share_text(summary["covered"]),
            }
            for name, summary in [*result["machines"].items(), ("all", result)]
        ]
    )


def precision(
    data: Annotated[Path, typer.Argument(help="Training and labelled test clips of a machine.")],
    preset: Preset = "paper",
    device: Device = "auto",
    seeds: Annotated[int, typer.Option(min=1, help="Number of trainings per precision.")] = 3,
    set_: Set = None,
    as_json: Json = False,
) -> None:
    """Precision: whether the faster arithmetic detects as well as float32."""
    from ssdpt.bench.precision import bench_precision

    config = bench_config(preset, set_, fixed={"device": device})
    print_result(bench_precision(config, data, seeds, REPORTER), as_json)


def thresholds(
    system: Annotated[str, typer.Option(help="The system to fit.")] = "texture",
    preset: Preset = "fast",
    train: Annotated[int, typer.Option(min=2, help="Normal clips per machine to fit on.")] = 200,
    clips: Annotated[int, typer.Option(min=1, help="Other normal clips, to be scored.")] = 2000,
    sections: Annotated[
        int, typer.Option(min=1, help="Specimens per machine that share the clips.")
    ] = 1,
    machine: Machines = None,
    keep: Annotated[
        Path | None, typer.Option(help="Folder to keep simulated clips for the next run.")
    ] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="Any setting: decision.folds=20.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Thresholds: requested and measured false alarms on new normal clips of a simulated plant."""
    from ssdpt.bench.thresholds import bench_thresholds

    result = bench_thresholds(
        bench_config(preset, set_, fixed={"system": system}),
        train=train,
        clips=clips,
        sections=sections,
        machines=machine or [],
        keep=keep,
        reporter=REPORTER,
    )
    if as_json:
        print_result(result, as_json)
        return
    rows = []
    for name, measured in result["machines"].items():
        rows.append({"machine": name, "system": measured["system"]})
        rows[-1]["threshold from"] = f"{measured['calibration_clips']} clips"
        for rate, row in measured["rates"].items():
            span = f"{row['ratio']:.2f} × ({row['ratio_low']:.2f}–{row['ratio_high']:.2f})"
            rows[-1][f"at {100 * float(rate):g} %"] = f"{100 * row['rate']:.2f} %, {span}"
    print_rows(rows)
    low, high = result["bounds"]
    for rate, within in result["within"].items():
        request = f"at {100 * float(rate):g} %, every machine within {low:g} to {high:g} times"
        STDOUT.print(f"{request}: {'yes' if within else 'no'}", markup=False)


def load(
    machines: Annotated[int, typer.Option(min=1, help="Machines monitored at once.")] = 64,
    clients: Annotated[int, typer.Option(min=0, help="Clients of the live stream.")] = 50,
    requests_per_second: Annotated[
        float, typer.Option(min=0, help="Requests to the API, of several kinds.")
    ] = 50.0,
    seconds: Annotated[float, typer.Option(min=5, help="Duration.")] = 60.0,
    speed: Annotated[
        float, typer.Option(min=0.1, help="Speed of the sound, as a multiple of real time.")
    ] = 1.0,
    then_machines: Annotated[
        int | None,
        typer.Option(min=1, help="Machines left afterwards, until shedding has ended."),
    ] = None,
    shared_model: Annotated[
        str,
        typer.Option(help="Preset of one model for all machines; default: a baseline of each."),
    ] = "",
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="A setting of it: ssdpt.hop=8.")
    ] = None,
    as_json: Json = False,
) -> None:
    """The service under load: latencies, shedding, CPU, memory, file handles, start and stop."""
    from ssdpt.bench.load.load import LoadOptions, bench_load

    epochs = {"ssdpt.training.epochs": 1}  # speed does not depend on what was learned
    shared = (
        bench_config(shared_model, set_, defaults={"device": "cpu", **epochs})
        if shared_model
        else None
    )
    options = LoadOptions(
        machines=machines,
        clients=clients,
        requests_per_second=requests_per_second,
        seconds=seconds,
        speed=speed,
        then_machines=then_machines,
        shared=shared,
    )
    print_result(bench_load(options, REPORTER), as_json)


def history(
    machines: Annotated[int, typer.Option(min=1, help="Number of machines.")] = 64,
    days: Annotated[int, typer.Option(min=1, help="Days of history, one value per minute.")] = 365,
    store: Annotated[
        str,
        typer.Option(help="An empty database to fill, postgresql+psycopg://…; default: SQLite."),
    ] = "",
    as_json: Json = False,
) -> None:
    """History: time to read trends from a store that holds a year of data per machine."""
    import tempfile
    from dataclasses import asdict

    from ssdpt.bench.history import bench_history

    with tempfile.TemporaryDirectory(prefix="ssdpt-") as folder:
        url = store or f"sqlite:///{folder}/history.db"
        measured = bench_history(url, Path(folder), machines=machines, days=days, reporter=REPORTER)
    result = asdict(measured)
    if as_json:
        print_result(result, as_json)
        return
    print_result({name: value for name, value in result.items() if name != "trends"}, as_json)
    print_rows(
        [
            {
                "trend of": trend.span,
                "seconds per point": f"{trend.seconds_per_point:g}",
                "points": str(trend.points),
                "median ms": f"{trend.median_ms:.1f}",
                "worst ms": f"{trend.worst_ms:.1f}",
            }
            for trend in measured.trends
        ]
    )


def voices(
    data: Annotated[list[Path], typer.Argument(help="Folders of machine recordings.")],
) -> None:
    """Voices: speech as loud as a machine that is cut out, and sound of machines alone."""
    from ssdpt.bench.voices import bench_voices

    print_rows([shares.row() for shares in bench_voices(data, REPORTER)])


command(app, "train")(train)
command(app, "thresholds")(thresholds)
command(app, "precision")(precision)
command(app, "score")(score)
command(app, "features")(features)
command(app, "fleet")(fleet)
command(app, "hop")(hop)
command(app, "explain")(explain)
command(app, "load")(load)
command(app, "history")(history)
command(app, "voices")(voices)
bench_alarms.register(app)
bench_quality.register(app)
bench_service.register(app)
