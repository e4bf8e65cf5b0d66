"""`report.html`: one page without a single outside request, for the shop floor and the lab."""

from __future__ import annotations

import base64
import html
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources

from ssdpt.evaluation import plots
from ssdpt.evaluation.clips import count
from ssdpt.evaluation.examples import Example
from ssdpt.evaluation.metrics import Estimate, Rates
from ssdpt.evaluation.outcome import Evaluation, figure, percent, span, thresholds
from ssdpt.evaluation.tables import DOMAINS, MachineResult
from ssdpt.version import __version__

_GRADES = ((0.95, "excellent"), (0.85, "good"), (0.7, "fair"), (0.0, "weak"))


def render(
    evaluation: Evaluation, examples: Mapping[str, Sequence[Example]], *, command: str = ""
) -> str:
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
            _machine(index, machine, evaluation, examples.get(machine.machine, ()))
            for index, machine in enumerate(machines)
        ),
        _how_to_read(),
        _left_out(evaluation),
        "</main>",
        _footer(evaluation, command),
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{_safe(_title(evaluation))}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        + "\n".join(part for part in body if part)
        + "\n</body>\n</html>\n"
    )


def grade(auc: Estimate | None) -> str:
    """How well faulty clips are told from normal ones, in a word; empty without an AUC."""
    if auc is None:
        return ""
    if auc.low <= 0.5:
        return "chance"
    return next(word for least, word in _GRADES if auc.value >= least)


def _safe(text: object) -> str:
    return html.escape(str(text), quote=True)


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
        words = f"95 %: {means.auc.low:.3f}–{means.auc.high:.3f}"
        tiles.append(("Mean AUC", f"{means.auc.value:.3f}", words))
    if rates.anomalies:
        caught = f"{rates.anomalies - rates.misses} of {rates.anomalies}"
        tiles.append(("Faulty clips caught", percent(rates.recall), caught))
    if rates.normals:
        alarms = f"{rates.false_alarms} of {rates.normals} normal clips"
        tiles.append(("False alarms", percent(rates.false_alarm_rate), alarms))
    listed = "".join(
        f"<div><dt>{name}</dt><dd>{value}<small>{small}</small></dd></div>"
        for name, value, small in tiles
    )
    return (
        f'<header>\n<h1>{_safe(_title(evaluation))}</h1>\n<p class="lead">'
        f'{_safe(evaluation.headline)}</p>\n<dl class="tiles">{listed}</dl>\n</header>'
    )


def _navigation(machines: Sequence[MachineResult]) -> str:
    links = "".join(
        f'<li><a href="#machine-{index}">{_safe(machine.machine)}</a></li>'
        for index, machine in enumerate(machines)
    )
    return f'<nav aria-label="Machines"><ul>{links}</ul></nav>'


def _overview(evaluation: Evaluation) -> str:
    rows = evaluation.summary_rows()
    known = {m.machine: m.means.auc for m in evaluation.results.machines if m.means.auc}
    references = {
        name: {machine.machine: machine.means.auc for machine in results.machines}
        for name, results in evaluation.references.items()
    }
    picture = ""
    if known and (len(known) > 1 or references):
        picture = _figure(
            plots.overview(known, references),
            "Each dot is a machine's AUC; the further right, the better its faulty clips are told "
            "from normal ones. At 0.5 the scores say nothing.",
        )
    table = _table(
        "By machine; small figures are 95 % intervals",
        list(rows[0]),
        [list(row.values()) for row in rows],
        total=len(rows) > 1,
    )
    return f"<section>\n<h2>Overview</h2>\n{picture}\n{table}\n</section>"


def _reliability(evaluation: Evaluation) -> str:
    if not (rows := [found.row for found in evaluation.reliability]):
        return ""
    told = evaluation.broken_words or ["Every rate asked for lies within its interval."]
    listed = "".join(f"<li>{_safe(sentence)}</li>" for sentence in told)
    table = _table(
        "False alarms found where 1, 5 and 10 % are asked for; small figures are 95 % intervals",
        list(rows[0]),
        [list(row.values()) for row in rows],
        text_columns=2,
    )
    heading = "Do the thresholds keep their word?"
    return f"<section>\n<h2>{heading}</h2>\n{table}\n<ul>{listed}</ul>\n</section>"


def _machine(
    index: int, machine: MachineResult, evaluation: Evaluation, examples: Sequence[Example]
) -> str:
    name = machine.machine
    word = grade(machine.means.auc)
    badge = {"": "", "chance": "no better than chance"}.get(word, word)
    if any(cell.is_rough for cell in machine.cells):
        badge += ", but few clips"
    clips = [i for i, clip in enumerate(evaluation.clips) if clip.recording.machine == name]
    rows = [evaluation.clips[i].row for i in clips]
    pictures = [
        _figure(
            plots.distributions(
                name,
                rows,
                {
                    section: (limits.alert, limits.alarm)
                    for (owner, section), limits in evaluation.limits.items()
                    if owner == name
                },
            ),
            "How the clips score: normal ones upward, faulty ones downward. The better they are "
            "told apart, the less the two overlap.",
        )
    ]
    if machine.means.auc is not None:
        others = {
            reference: [evaluation.clips[i].row_with(values[i]) for i in clips]
            for reference, values in evaluation.reference_scores.items()
        }
        pictures.append(
            _figure(
                plots.roc_curves(name, rows, machine.rates, others),
                "What share of the faulty clips is caught at which false alarm rate; the area "
                "under the thick line is the AUC.",
            )
        )
    if words := [found for found in evaluation.reliability if found.machine == name]:
        caption = (
            "What share of the normal clips raises an alarm where which share was asked for; on "
            "the dashed line thresholds keep their word, within the band by a factor of 2."
        )
        pictures.append(_figure(plots.reliability(name, words), caption))
    heard = "".join(_example(example) for example in examples)
    return (
        f'<section id="machine-{index}">\n'
        f"<h2>{_safe(name)}"
        + (f'<span class="grade {word}">{badge}</span>' if word else "")
        + f"</h2>\n<p>{_safe(_sentences(machine, evaluation))}</p>\n"
        f'<div class="figures">{"".join(pictures)}</div>\n'
        f"{_cell_table(machine)}\n{_section_table(machine)}\n"
        + (f'<h3>Most anomalous clips</h3>\n<div class="examples">{heard}</div>\n' if heard else "")
        + "</section>"
    )


def _sentences(machine: MachineResult, evaluation: Evaluation) -> str:
    rates = machine.rates
    said = []
    if rates.anomalies:
        said.append(
            f"Caught {rates.anomalies - rates.misses} of {count(rates.anomalies, 'faulty clip')}."
        )
    if rates.normals:
        said.append(
            f"{count(rates.false_alarms, 'false alarm')} on {count(rates.normals, 'normal clip')} "
            f"({percent(rates.false_alarm_rate)}, set to "
            f"{percent(evaluation.false_alarm_rates[machine.machine])})."
        )
    defined = [cell for cell in machine.cells if cell.auc is not None]
    if machine.means.auc is not None:
        said.append(f"AUC {span(machine.means.auc)}.")
    if len(defined) > 1:
        worst = min(defined, key=lambda cell: cell.auc.value if cell.auc else 1.0)
        said.append(f"Hardest: {worst.place}, AUC {figure(worst.auc)}.")
    simple = [
        f"{name} {figure(results.machine(machine.machine).means.auc)}"
        for name, results in evaluation.references.items()
    ]
    if simple:
        said.append(f"For comparison, the AUC of {', '.join(simple)}.")
    said.append(f"System: {evaluation.systems[machine.machine]}.")
    return " ".join(said)


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
    return _table(
        f"By section and domain (2021 definition); threshold {thresholds(machine.thresholds)}",
        headings,
        [*rows, *(means_rows if len(rows) > 1 else [])],
        text_columns=2,
    )


def _section_table(machine: MachineResult) -> str:
    table = _table(
        "AUC of a domain: its normal clips against the faulty clips of both; pAUC: whole section",
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
    known = clip.recording
    truth = "faulty" if clip.is_faulty else "normal"
    if known.fault:
        truth += f" ({known.fault})"
    if clip.is_faulty != score.is_anomalous:
        truth += ": missed" if clip.is_faulty else ": a false alarm"
    facts = [
        ("verdict", f'<strong class="{score.level}">{score.level}</strong>'),
        ("true label", _safe(truth)),
        ("score", f"{score.value:.4g} (alert above {score.threshold:.4g})"),
        ("p-value", f"{score.p_value:.2g}: share of normal clips that score this high"),
    ]
    if example.picture.place:
        facts.append(("stands out", example.picture.place))
    if example.picture.band_words:
        facts.append(("top bands", example.picture.band_words))
    where = f"section {known.section}, {known.domain} domain".removeprefix("section , ")
    if known.attributes:
        where += f", {known.attribute_text}"
    facts.append(("recorded at", _safe(where)))
    facts += [("note", _safe(note)) for note in score.notes]
    listed = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in facts)
    sound = base64.b64encode(example.sound).decode()
    name = _safe(known.path.name)
    return (
        f"<article><h4>{name}</h4>{plots.spectrogram(example)}"
        f'<audio controls preload="none" aria-label="Listen to {name}" '
        f'src="data:{example.mime};base64,{sound}"></audio>'
        f'<dl class="facts">{listed}</dl></article>'
    )


def _how_to_read() -> str:
    points = [
        "<strong>Score</strong>: one number a clip, higher = more anomalous. Its scale is the "
        "model's own; compare scores of one machine only.",
        "<strong>Alert and alarm limits</strong>: set on normal clips alone, so that about the "
        "chosen share of normal clips raises an alert, and a tenth of that share an alarm.",
        "<strong>p-value</strong>: the share of normal clips expected to score at least as high.",
        "<strong>AUC</strong>: the chance that a faulty clip scores higher than a normal one. "
        "1 is perfect, 0.5 is a coin. From 0.95 it is called excellent here, from 0.85 good, from "
        "0.7 fair, below that weak; where the interval reaches 0.5, no better than chance.",
        "<strong>pAUC</strong>: the same for false alarm rates up to 10 % only (McClish; 0.5 is a "
        "coin). “pAUC printed” is the formula printed in the paper, where a coin gives 0.05.",
        "<strong>Means</strong> run over sections and domains. h- marks harmonic means, which "
        "punish a single bad section. Ranges beside a figure are 95 % bootstrap intervals.",
        "<strong>Spectrograms</strong>: light is loud, orange is what the model finds odd, the "
        "dashed frame its strongest part; the percentages are shares of all that is odd. Sounds "
        "are raised to the same peak level.",
    ]
    listed = "".join(f"<li>{point}</li>" for point in points)
    return f"<section><h2>How to read this page</h2><ul>{listed}</ul></section>"


def _left_out(evaluation: Evaluation) -> str:
    told = [*(str(left) for left in evaluation.left_out), *evaluation.notes]
    if not told:
        told = ["Every clip of the data set was used."]
    listed = "".join(f"<li>{_safe(text)}</li>" for text in told)
    return f"<section><h2>Data left out, and remarks</h2><ul>{listed}</ul></section>"


def _footer(evaluation: Evaluation, command: str) -> str:
    made = f" Made by <code>{_safe(command)}</code>." if command else ""
    return (
        f"<footer><p>ssdpt {__version__}, layout {_safe(evaluation.layout)}, "
        f"seed {evaluation.seed}.{made} The figures are in <code>metrics.json</code>, every "
        "clip's score in <code>scores.csv</code>.</p></footer>"
    )


def _figure(svg: str, caption: str) -> str:
    return f"<figure>{svg}<figcaption>{_safe(caption)}</figcaption></figure>"


def _table(
    caption: str,
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    text_columns: int = 1,
    total: bool = False,
) -> str:
    """A table whose first column heads its rows; wide ones scroll within themselves."""
    rows = list(rows)

    def kind(column: int) -> str:
        return ' class="text"' if column < text_columns else ""

    # A heading may break at its spaces, but h-AUC not at its hyphen.
    head = "".join(
        f'<th scope="col"{kind(i)}>{_safe(heading).replace("-", "&#8209;")}</th>'
        for i, heading in enumerate(headings)
    )
    lines = []
    for number, row in enumerate(rows):
        mark = ' class="total"' if total and number == len(rows) - 1 else ""
        cells = "".join(f"<td{kind(i)}>{_stacked(v)}</td>" for i, v in enumerate(row) if i > 0)
        lines.append(f'<tr{mark}><th scope="row" class="text">{_safe(row[0])}</th>{cells}</tr>')
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{_safe(caption)}">'
        f"<table><caption>{_safe(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def _stacked(text: str) -> str:
    """A figure with its interval in small letters below, which keeps tables narrow."""
    value, bracket, interval = text.partition(" (")
    return _safe(value) + (f"<br><small>{_safe(interval.rstrip(')'))}</small>" if bracket else "")


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
