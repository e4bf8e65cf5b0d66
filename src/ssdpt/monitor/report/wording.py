"""The text of the weekly report in the language of the plant, for PDF and mail alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ssdpt.alarms.findings import describe
from ssdpt.monitor.events.descriptions import cause
from ssdpt.monitor.language import Language
from ssdpt.monitor.messages import Event, MachineWeek, WeeklyReport, Worsening

_NONE = "–"  # a cell that does not apply


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells; `widths` of the columns, relative to each other."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    widths: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, and a table or a sentence."""

    title: str
    content: Table | str


@dataclass(frozen=True, slots=True)
class ReportText:
    """The whole report."""

    title: str
    dates: str
    summary: tuple[tuple[str, str], ...]  # names and figures
    sections: tuple[Section, ...]

    def plain(self) -> str:
        """As the text of a mail."""
        lines = [self.title, self.dates, ""]
        lines += [f"{name}: {figure}" for name, figure in self.summary]
        for section in self.sections:
            lines += ["", section.title, "-" * len(section.title)]
            lines += _lines(section.content)
        return "\n".join(lines) + "\n"


def report_text(report: WeeklyReport) -> ReportText:
    """What the report says."""
    return _Wording(report).text()


class _Wording:
    def __init__(self, report: WeeklyReport) -> None:
        self._report, self._language = report, Language(report.language)
        self._say = self._language.text
        self._names = {machine.machine: machine.name for machine in report.machines}

    def text(self) -> ReportText:
        report, say = self._report, self._say
        dates = say(
            "{first} to {last}",
            first=self._language.day(report.begin, report.timezone),
            last=self._language.day(report.end - 1, report.timezone),
        )
        if not report.is_over:
            now = self._language.time(report.until, report.timezone)
            dates = say("{dates}; not over, as of {time}", dates=dates, time=now)
        return ReportText(
            title=say("Weekly report: {plant}, {week}", plant=report.plant, week=report.week),
            dates=dates,
            summary=self._summary(),
            sections=(
                Section(say("Machines that get worse"), self._worse()),
                Section(say("Events"), self._events()),
                Section(say("Machines"), self._machines()),
                *([Section(say("Notes"), self._notes())] if report.notes else []),
            ),
        )

    def _summary(self) -> tuple[tuple[str, str], ...]:
        machines, say = self._report.machines, self._say
        listened = sum(machine.listened_hours or 0.0 for machine in machines)
        events = sum(machine.events for machine in machines)
        alarms = sum(machine.alarms for machine in machines)
        measurements = sum(machine.measurements or 0 for machine in machines)
        numbers = self._language.numbers
        figures = [
            (
                say("Events"),
                say("{events}, of these {alarms} in alarm", events=events, alarms=alarms),
            ),
            (say("Not acknowledged"), str(sum(machine.unacknowledged for machine in machines))),
            (say("False alerts"), str(sum(machine.false_alerts for machine in machines))),
            *([(say("Listened"), self._listened(listened))] if self._streams else []),
            *([(say("Measurements"), numbers.fixed(measurements))] if self._snapshots else []),
        ]
        return tuple(figures)

    def _listened(self, hours: float) -> str:
        """With the share of the time, of machines whose sound never pauses."""
        constant = [one for one in self._report.machines if one.lost_hours is not None]
        heard = sum(machine.listened_hours or 0.0 for machine in constant)
        lost = sum(machine.lost_hours or 0.0 for machine in constant)
        if heard + lost == 0:
            return self._say("{hours} h", hours=self._hours(hours))
        return self._say(
            "{hours} h; {share} of the time, {lost} h without sound",
            hours=self._hours(hours),
            share=self._language.percent(heard / (heard + lost)),
            lost=self._hours(lost),
        )

    def _worse(self) -> Table | str:
        worse = [one for one in self._report.machines if one.worse or one.outlook is not None]
        if not worse:
            if not any(machine.enough_history for machine in self._report.machines):
                return self._say("There are not enough weeks yet to compare with.")
            return self._say("None.")
        return Table(
            (self._say("Machine"), self._say("What has changed against the weeks before")),
            tuple((self._title(one), "\n".join(self._reasons(one))) for one in worse),
            (3, 7),
        )

    def _reasons(self, machine: MachineWeek) -> list[str]:
        reasons = [self._worsening(one) for one in machine.worse]
        if machine.outlook is not None:
            zone = self._report.timezone
            reasons.append(
                self._say(
                    "reaches alarm between {earliest} and {latest} if it goes on like this",
                    earliest=self._language.day(machine.outlook.earliest, zone),
                    latest=self._language.day(machine.outlook.latest, zone),
                )
            )
        return reasons

    def _worsening(self, one: Worsening) -> str:
        numbers = self._language.numbers
        change = numbers.fixed(one.now - one.before)
        match one.code:
            case "score":
                return self._say(
                    "score {now}, before {before}",
                    now=numbers.score(one.now),
                    before=numbers.score(one.before),
                )
            case "alerts":
                return self._say(
                    "{now} h in alert or alarm, before {before} h",
                    now=self._hours(one.now),
                    before=self._hours(one.before),
                )
            case "level":
                return self._say("{change} dB louder", change=change)
            case "band":
                low, high = numbers.band(one.low_hz or 0.0, one.high_hz or 0.0)
                return self._say(
                    "{change} dB more from {low} to {high}", change=change, low=low, high=high
                )

    def _events(self) -> Table | str:
        if not self._report.events:
            return self._say("None.")
        say = self._say
        rows = [self._event(event) for event in self._report.events]
        if more := self._report.events_left_out:
            sentence = self._language.plural("and {count} more", "and {count} more", more)
            rows.append((sentence, "", "", "", ""))
        return Table(
            (say("Began"), say("Machine"), say("Level"), say("What"), say("State and cause")),
            tuple(rows),
            (16, 18, 9, 38, 24),
        )

    def _event(self, event: Event) -> tuple[str, ...]:
        say = self._say
        state = [
            say("acknowledged by {who}", who=event.acknowledged.who)
            if event.acknowledged
            else say("not acknowledged")
        ]
        if event.label:
            state.append(say("false alert") if event.label == "normal" else say("fault"))
        if event.fault:
            state.append(event.fault)
        elif event.looks_like is not None:
            state.append(say("looks like: {fault}", fault=event.looks_like.fault))
        if event.cause:
            state.append(say("cause: {cause}", cause=event.cause))
        if event.work_order:
            state.append(event.work_order)
        return (
            self._language.time(event.began, self._report.timezone),
            self._names.get(event.machine, event.machine),
            say("Alarm") if event.level == "alarm" else say("Alert"),
            describe(event.findings, self._language) or cause(event, self._language),
            "; ".join(state),
        )

    def _machines(self) -> Table | str:
        if not self._report.machines:
            return self._say("None.")
        say = self._say
        hours = (say("Hours listened"), say("Hours without sound")) if self._streams else ()
        measurements = (say("Measurements"),) if self._snapshots else ()
        return Table(
            (
                *(say("Machine"), say("Events"), say("In alarm"), say("False alerts")),
                *(*hours, *measurements),
            ),
            tuple(self._machine(machine) for machine in self._report.machines),
            (26, 17, 12, 22, *(17 for _ in (*hours, *measurements))),
        )

    @property
    def _streams(self) -> bool:
        """Whether there are machines that are listened to."""
        return any(one.listened_hours is not None for one in self._report.machines)

    @property
    def _snapshots(self) -> bool:
        """Whether there are machines that are measured at intervals."""
        return any(one.measurements is not None for one in self._report.machines)

    def _machine(self, machine: MachineWeek) -> tuple[str, ...]:
        """A machine is listened to, or measured at intervals: what it is not has no figure."""
        cells = [str(machine.events), str(machine.alarms), str(machine.false_alerts)]
        if self._streams:
            hours = (machine.listened_hours, machine.lost_hours)
            cells += [_NONE if one is None else self._hours(one) for one in hours]
        if self._snapshots:
            taken = machine.measurements
            cells.append(_NONE if taken is None else self._language.numbers.fixed(taken))
        return (self._title(machine), *cells)

    def _notes(self) -> Table:
        say = self._say
        kinds = {"repair": say("Repair"), "inspection": say("Inspection"), "other": say("Other")}
        return Table(
            (say("Time"), say("Machine"), say("Kind"), say("Note")),
            tuple(
                (
                    self._language.time(note.at, self._report.timezone),
                    self._names.get(note.machine, note.machine),
                    kinds[note.kind],
                    f"{note.text} ({note.who})",
                )
                for note in self._report.notes
            ),
            (16, 18, 12, 54),
        )

    def _title(self, machine: MachineWeek) -> str:
        return f"{machine.name}, {machine.site}" if machine.site else machine.name

    def _hours(self, value: float) -> str:
        return self._language.numbers.fixed(value, 1)


def _lines(content: Table | str) -> Sequence[str]:
    """Rows as paragraphs: a table in a mail is read on a phone."""
    if isinstance(content, str):
        return [content]
    lines = []
    for row in content.rows:
        first, *others = row
        named = [
            f"{head}: {cell}" if len(row) > 2 else cell
            for head, cell in zip(content.heads[1:], others, strict=True)
            if cell not in ("", _NONE)
        ]
        lines.append(
            f"- {first}: " + " · ".join(named).replace("\n", "; ") if named else f"- {first}"
        )
    return lines
