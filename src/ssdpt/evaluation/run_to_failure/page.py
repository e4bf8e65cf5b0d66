"""`report.html` of runs to failure: one self-contained page."""

from __future__ import annotations

from collections import Counter
from importlib import resources
from typing import TYPE_CHECKING

from ssdpt.evaluation.run_to_failure import plots
from ssdpt.evaluation.run_to_failure.run_outcome import RunOutcome
from ssdpt.evaluation.run_to_failure.wording import (
    change_text,
    duration,
    findings_text,
    life_percent,
)
from ssdpt.evaluation.web_page import escape, figure_element, table_element, web_page
from ssdpt.version import __version__

if TYPE_CHECKING:
    from ssdpt.evaluation.run_to_failure.evaluation import RunsEvaluation

_CLASSES = {"right": "good", "late": "fair", "false": "weak", "missed": "weak"}


def render(evaluation: RunsEvaluation, command: str = "") -> str:
    """The whole page as HTML text."""
    style = resources.files("ssdpt.evaluation").joinpath("page.css").read_text(encoding="utf-8")
    made = f" Made by <code>{escape(command)}</code>." if command else ""
    body = [
        _header(evaluation),
        "<main>",
        _overview(evaluation),
        *(_run(outcome) for outcome in evaluation.outcomes),
        _how_to_read(),
        "</main>",
        f"<footer><p>ssdpt {__version__}.{made} One row per run is in <code>runs.csv</code>.</p>"
        "</footer>",
    ]
    return web_page("Runs to failure", style, body)


def _header(evaluation: RunsEvaluation) -> str:
    counts = Counter(outcome.verdict(outcome.alarm) for outcome in evaluation.outcomes)
    tiles = [
        ("Runs", str(len(evaluation.outcomes)), ""),
        ("Right", str(counts["right"]), "alarm from 50 % to 95 % of the life"),
        ("Late", str(counts["late"]), "after 95 %"),
        ("False", str(counts["false"]), "before half life"),
        ("Missed", str(counts["missed"]), "no alarm before the end"),
    ]
    listed = "".join(
        f"<div><dt>{name}</dt><dd>{value}<small>{small}</small></dd></div>"
        for name, value, small in tiles
    )
    return (
        '<header>\n<h1>Runs to failure</h1>\n<p class="lead">Would there have been an alarm, and '
        f'when?</p>\n<dl class="tiles">{listed}</dl>\n</header>'
    )


def _overview(evaluation: RunsEvaluation) -> str:
    rows, totals = evaluation.summary_rows(), evaluation.totals()
    return (
        "<section>\n<h2>Overview</h2>\n"
        + table_element(
            "First alarm of every run, as a share of its life, beside plain rules",
            list(rows[0]),
            [list(row.values()) for row in rows],
        )
        + table_element("Verdicts counted", list(totals[0]), [list(row.values()) for row in totals])
        + f"<p>{escape(evaluation.outlook_sentence)}</p>\n</section>"
    )


def _run(outcome: RunOutcome) -> str:
    verdict = outcome.verdict(outcome.alarm)
    sentence = "No alarm before the end."
    if outcome.alarm is not None:
        sentence = (
            f"First alarm at {life_percent(outcome.share(outcome.alarm))} of the life, "
            f"{duration(outcome.lead_seconds)} before the end: {change_text(outcome)}. "
            f"Against the learning part: {findings_text(outcome) or 'no single finding'}."
        )
    early = (
        f"In alert or alarm during {outcome.alerts_before_half:.0%} of the time from learning to "
        "half life."
    )
    notes = "".join(f"<li>{escape(note)}</li>" for note in outcome.run.notes)
    return (
        f"<section>\n<h2>{escape(outcome.run.name)} "
        f'<span class="grade {_CLASSES[verdict]}">{verdict}</span></h2>\n'
        f"<p>{escape(sentence)} {early}</p>{f'<ul>{notes}</ul>' if notes else ''}\n"
        + figure_element(
            plots.life(outcome),
            "Top: the change score of every snapshot (thin) and the score that has lasted (thick), "
            "with the limits of alert and alarm. Middle: levels against those of the learning "
            "part. Bottom: kurtosis; 3 is noise, more is knocking. The strong vertical line is the "
            "first alarm; dotted lines mark half life and 95 % of the life.",
        )
        + "\n</section>"
    )


def _how_to_read() -> str:
    return (
        "<section><h2>How to read this</h2><p>Each run is learned from 2 % to 20 % of its own "
        "life. Every later snapshot is judged in order of time by the alarm logic of the live "
        "service, which knows nothing of the future. The first alarm counts: before half life it "
        "is false, up to 95 % of the life right, after that late.</p><p>Plain rules: RMS, kurtosis "
        "and the distance from one Gaussian of band levels above mean + 6 standard deviations of "
        "the learning part, three clips of one second in a row; any of eight bands 6 dB above the "
        "highest two-minute mean of the learning part, six snapshots in a row.</p></section>"
    )
