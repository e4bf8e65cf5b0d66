"""`report.html`: the result of an evaluation as one self-contained page."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from importlib import resources

from ssdpt.evaluation import plots
from ssdpt.evaluation.clips import count
from ssdpt.evaluation.examples import Example, Examples
from ssdpt.evaluation.metrics import Rates
from ssdpt.evaluation.outcome import Evaluation, figure, percent, span, threshold_range
from ssdpt.evaluation.practice import practice_rows
from ssdpt.evaluation.tables import DOMAINS, MachineResult
from ssdpt.evaluation.verdict import verdict
from ssdpt.evaluation.web_page import escape, figure_element, table_element, web_page
from ssdpt.version import __version__

ALL_AS_REQUESTED = "Every requested rate lies within the interval of the measured one."


def render(evaluation: Evaluation, examples: Mapping[str, Examples], *, command: str = "") -> str:
    """The whole page as HTML text."""
    machines = evaluation.results.machines
    style = resources.files("ssdpt.evaluation").joinpath("page.css").read_text(encoding="utf-8")
    body = [
        _header(evaluation),
        "<main>",
        _navigation(machines) if len(machines) > 1 else "",
        _overview(evaluation),
        _reliability(evaluation),
        *(
            _machine(index, machine, evaluation, examples.get(machine.machine, Examples()))
            for index, machine in enumerate(machines)
        ),
        _your_machine(evaluation),
        _how_to_read(),
        _left_out(evaluation),
        "</main>",
        _footer(evaluation, command),
    ]
    return web_page(_title(evaluation), style, body)


def _title(evaluation: Evaluation) -> str:
    names = ", ".join(machine.machine for machine in evaluation.results.machines)
    return f"Evaluation of {names}"


def _header(evaluation: Evaluation) -> str:
    results = evaluation.results
    means, rates = results.means, results.rates
    tiles = [
        ("Machines", str(len(results.machines)), ""),
        ("Clips", f"{len(evaluation.clips):,}", ""),
    ]
    if means.auc is not None:
        interval = f"95 %: {means.auc.low:.3f}–{means.auc.high:.3f}"
        tiles.append(("Mean AUC", f"{means.auc.value:.3f}", interval))
    if rates.anomalies:
        detected = f"{rates.anomalies - rates.misses} of {rates.anomalies}"
        tiles.append(("Faulty clips detected", percent(rates.recall), detected))
    if rates.normals:
        alarms = f"{rates.false_alarms} of {rates.normals} normal clips"
        tiles.append(("False alarms", percent(rates.false_alarm_rate), alarms))
    listed = "".join(
        f"<div><dt>{name}</dt><dd>{value}<small>{small}</small></dd></div>"
        for name, value, small in tiles
    )
    return (
        f'<header>\n<h1>{escape(_title(evaluation))}</h1>\n<p class="lead">'
        f'{escape(evaluation.headline)}</p>\n<dl class="tiles">{listed}</dl>\n</header>'
    )


def _navigation(machines: Sequence[MachineResult]) -> str:
    links = "".join(
        f'<li><a href="#machine-{index}">{escape(machine.machine)}</a></li>'
        for index, machine in enumerate(machines)
    )
    return f'<nav aria-label="Machines"><ul>{links}</ul></nav>'


def _overview(evaluation: Evaluation) -> str:
    rows = evaluation.summary_rows()
    areas = {m.machine: m.means.auc for m in evaluation.results.machines if m.means.auc}
    references = {
        name: {machine.machine: machine.means.auc for machine in results.machines}
        for name, results in evaluation.references.items()
    }
    picture = ""
    if areas and (len(areas) > 1 or references):
        picture = figure_element(
            plots.overview(areas, references),
            "Each dot is the AUC of a machine. Further right is better: faulty clips score higher "
            "than normal ones. At 0.5 the scores carry no information.",
        )
    table = table_element(
        "By machine; small numbers are 95 % intervals",
        list(rows[0]),
        [list(row.values()) for row in rows],
        total=len(rows) > 1,
    )
    return f"<section>\n<h2>Overview</h2>\n{picture}\n{table}\n</section>"


def _reliability(evaluation: Evaluation) -> str:
    if not (rows := [entry.row for entry in evaluation.reliability]):
        return ""
    sentences = evaluation.false_alarm_deviations or [ALL_AS_REQUESTED]
    listed = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    table = table_element(
        "Measured rates where 1, 5 and 10 % were requested; small numbers are 95 % intervals",
        list(rows[0]),
        [list(row.values()) for row in rows],
        text_columns=2,
    )
    heading = "Are the false-alarm rates as requested?"
    return f"<section>\n<h2>{heading}</h2>\n{table}\n<ul>{listed}</ul>\n</section>"


def _machine(index: int, machine: MachineResult, evaluation: Evaluation, examples: Examples) -> str:
    name = machine.machine
    judged = verdict(machine.means.auc, machine.rates, evaluation.false_alarm_rates[name])
    few = ", but few clips" if any(cell.is_rough for cell in machine.cells) else ""
    clips = [i for i, clip in enumerate(evaluation.clips) if clip.recording.machine == name]
    rows = [evaluation.clips[i].row for i in clips]
    pictures = [
        figure_element(
            plots.distributions(
                name,
                rows,
                {
                    section: (thresholds.alert, thresholds.alarm)
                    for (owner, section), thresholds in evaluation.thresholds.items()
                    if owner == name
                },
            ),
            "Score histograms: normal clips upward, faulty clips downward. The less the two "
            "overlap, the better.",
        )
    ]
    if machine.means.auc is not None:
        others = {
            reference: [evaluation.clips[i].row_with(values[i]) for i in clips]
            for reference, values in evaluation.reference_scores.items()
        }
        pictures.append(
            figure_element(
                plots.roc_curves(name, rows, machine.rates, others),
                "The share of faulty clips that is detected at each false alarm rate; the area "
                "under the thick line is the AUC.",
            )
        )
    if domains := [entry for entry in evaluation.reliability if entry.machine == name]:
        caption = (
            "The share of normal clips that raises an alarm at each requested rate. On the dashed "
            "line the rate is as requested; in the band it is within a factor of 2."
        )
        pictures.append(figure_element(plots.reliability(name, domains), caption))
    return (
        f'<section id="machine-{index}">\n'
        f"<h2>{escape(name)}"
        + (f'<span class="grade {judged.grade}">{judged.text}{few}</span>' if judged.grade else "")
        + f"</h2>\n<p>{escape(_sentences(machine, evaluation))}</p>\n"
        f'<div class="figures">{"".join(pictures)}</div>\n'
        f"{_cell_table(machine)}\n{_section_table(machine)}\n"
        + _listening("Most anomalous clips", examples.most_anomalous)
        + _listening(
            "Further false alarms (normal clips above the threshold)", examples.false_alarms
        )
        + "</section>"
    )


def _listening(heading: str, examples: Sequence[Example]) -> str:
    """Clips to listen to; nothing if there are none."""
    if not examples:
        return ""
    shown = "".join(_example(example) for example in examples)
    return f'<h3>{heading}</h3>\n<div class="examples">{shown}</div>\n'


def _sentences(machine: MachineResult, evaluation: Evaluation) -> str:
    rates = machine.rates
    sentences = []
    if rates.anomalies:
        sentences.append(
            f"Detected {rates.anomalies - rates.misses} of {count(rates.anomalies, 'faulty clip')}."
        )
    if rates.normals:
        sentences.append(
            f"{count(rates.false_alarms, 'false alarm')} on {count(rates.normals, 'normal clip')} "
            f"({percent(rates.false_alarm_rate)}; requested: "
            f"{percent(evaluation.false_alarm_rates[machine.machine])})."
        )
    defined = [cell for cell in machine.cells if cell.auc is not None]
    if machine.means.auc is not None:
        sentences.append(f"AUC {span(machine.means.auc)}.")
    if len(defined) > 1:
        worst = min(defined, key=lambda cell: cell.auc.value if cell.auc else 1.0)
        sentences.append(f"Hardest: {worst.description}, AUC {figure(worst.auc)}.")
    simple = [
        f"{name} {figure(results.machine(machine.machine).means.auc)}"
        for name, results in evaluation.references.items()
    ]
    if simple:
        sentences.append(f"For comparison, the AUC of {', '.join(simple)}.")
    sentences.append(f"System: {evaluation.systems[machine.machine]}.")
    return " ".join(sentences)


def _cell_table(machine: MachineResult) -> str:
    headings = [
        *("section", "domain", "normal", "faulty", "AUC", "pAUC", "pAUC printed"),
        *("false alarms", "misses", "precision", "recall", "F1"),
    ]
    rows = [
        [
            *(cell.section or "–", cell.domain, str(cell.rates.normals), str(cell.rates.anomalies)),
            *(span(cell.auc), span(cell.pauc), _number(cell.pauc_printed)),
            *_rate_columns(cell.rates),
        ]
        for cell in machine.cells
    ]
    means, rates = machine.means, machine.rates
    means_rows = [
        [
            *("arithmetic mean", "", str(rates.normals), str(rates.anomalies)),
            *(span(means.auc), span(means.pauc), _number(means.pauc_printed)),
            *_rate_columns(rates),
        ],
        ["harmonic mean", "", "", "", span(means.h_auc), span(means.h_pauc), *[""] * 6],
    ]
    return table_element(
        f"By section and domain (2021 definition); threshold {threshold_range(machine.thresholds)}",
        headings,
        [*rows, *(means_rows if len(rows) > 1 else [])],
        text_columns=2,
    )


def _section_table(machine: MachineResult) -> str:
    table = table_element(
        "AUC of a domain: its normal clips and the faulty clips of both; pAUC: whole section",
        ["section", *(f"AUC {domain}" for domain in DOMAINS), "pAUC"],
        [
            [s.section or "–", span(s.auc_source), span(s.auc_target), span(s.pauc)]
            for s in machine.sections
        ],
    )
    return (
        f"<details><summary>2022 definition: official score "
        f"{span(machine.means.official_2022)}</summary>{table}</details>"
    )


def _rate_columns(rates: Rates) -> list[str]:
    return [
        f"{rates.false_alarms}/{rates.normals}",
        f"{rates.misses}/{rates.anomalies}",
        *(f"{value:.3f}" for value in (rates.precision, rates.recall, rates.f1)),
    ]


def _example(example: Example) -> str:
    clip, score = example.clip, example.clip.score
    recording = clip.recording
    label = "faulty" if clip.is_faulty else "normal"
    if recording.fault and recording.fault != label:
        label += f" ({recording.fault})"
    if clip.is_faulty != score.is_anomalous:
        label += ": missed" if clip.is_faulty else ": a false alarm"
    facts = [
        ("verdict", f'<strong class="{score.level}">{score.level}</strong>'),
        ("labelled", escape(label)),
        ("score", f"{score.value:.4g} (alert above {score.threshold:.4g})"),
        ("p-value", f"{score.p_value:.2g}: share of normal clips with a score this high"),
    ]
    if example.explanation.peak_text:
        facts.append(("most anomalous", example.explanation.peak_text))
    if example.explanation.band_text:
        facts.append(("top bands", example.explanation.band_text))
    details = f"section {recording.section}, {recording.domain} domain".removeprefix("section , ")
    if recording.attributes:
        details += f", {recording.attribute_text}"
    facts.append(("recording", escape(details)))
    facts += [("note", escape(note)) for note in score.notes]
    listed = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in facts)
    sound = base64.b64encode(example.sound).decode()
    name = escape(recording.path.name)
    return (
        f"<article><h4>{name}</h4>{plots.spectrogram(example)}"
        f'<audio controls preload="none" aria-label="Listen to {name}" '
        f'src="data:{example.mime};base64,{sound}"></audio>'
        f'<dl class="facts">{listed}</dl></article>'
    )


def _your_machine(evaluation: Evaluation) -> str:
    rows = practice_rows(evaluation.clips)
    table = table_element(
        "With one clip every ten minutes, by the share of false alarms that you accept; small "
        "numbers are 95 % intervals",
        list(rows[0]),
        [list(row.values()) for row in rows],
        total=len(rows) > 1,
    )
    points = [
        "<strong>Fewer false alerts cost faults.</strong> <code>ssdpt threshold MODEL "
        "--false-alarm-rate 0.01</code> changes the choice at any time; nothing is trained again. "
        "Three alerts in a row are far rarer by chance than one.",
        "<strong>Listening all the time</strong> (<code>ssdpt serve</code>) judges seconds "
        "together and not clip by clip: you say how many false alerts a week you accept, and what "
        "lasts only a moment is no alarm.",
        "<strong>Your machine is another one.</strong> Record ten minutes of its normal sound, on "
        "two days (<code>ssdpt help recording</code>), and fit a model. Then score every new clip "
        "for a week: how many false alerts there are needs no fault to be known.",
        "<strong>Whether its faults are heard</strong> depends on how they sound beside the "
        "machine and the hall. Recordings of a fault, however few, tell: "
        "<code>ssdpt evaluate</code>. Simulated machines are easier than a factory.",
    ]
    listed = "".join(f"<li>{point}</li>" for point in points)
    heading = "What would this do for my machine?"
    return f"<section>\n<h2>{heading}</h2>\n{table}\n<ul>{listed}</ul>\n</section>"


def _how_to_read() -> str:
    points = [
        "<strong>Score</strong>: one number per clip, higher = more anomalous. Its scale is the "
        "model's own; compare scores of the same machine only.",
        "<strong>Alert and alarm thresholds</strong>: set on normal clips only, so that about the "
        "requested share of normal clips raises an alert, and a tenth of that share an alarm.",
        "<strong>p-value</strong>: the share of normal clips expected to score at least as high.",
        "<strong>AUC</strong>: the chance that a faulty clip scores higher than a normal one. "
        "1 is perfect, 0.5 is chance. Here 0.95 and above is called excellent, 0.85 good, 0.7 "
        "fair, less than that weak; if the interval reaches 0.5, no better than chance. More false "
        "alarms than requested limit this to fair, more than twice as many to weak.",
        "<strong>pAUC</strong>: the same for false alarm rates up to 10 % only (McClish; 0.5 is "
        "chance). “pAUC printed” is the formula printed in the paper, where chance gives 0.05.",
        "<strong>Means</strong> are over sections and domains. h- marks harmonic means, which are "
        "pulled down by a single bad section. The ranges are 95 % bootstrap intervals.",
        "<strong>Spectrograms</strong>: light is loud, orange is anomalous, the dashed frame is "
        "the most anomalous part; percentages are shares of the anomaly map. All sounds are "
        "normalised to the same peak level.",
    ]
    listed = "".join(f"<li>{point}</li>" for point in points)
    return f"<section><h2>How to read this page</h2><ul>{listed}</ul></section>"


def _left_out(evaluation: Evaluation) -> str:
    remarks = [*(str(left) for left in evaluation.left_out), *evaluation.notes]
    if not remarks:
        remarks = ["Every clip of the data set was used."]
    listed = "".join(f"<li>{escape(text)}</li>" for text in remarks)
    return f"<section><h2>Clips left out, and remarks</h2><ul>{listed}</ul></section>"


def _footer(evaluation: Evaluation, command: str) -> str:
    made = f" Made by <code>{escape(command)}</code>." if command else ""
    return (
        f"<footer><p>ssdpt {__version__}, layout {escape(evaluation.layout)}, "
        f"seed {evaluation.seed}.{made} The metrics are in <code>metrics.json</code>, every "
        "clip's score in <code>scores.csv</code>.</p></footer>"
    )


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
