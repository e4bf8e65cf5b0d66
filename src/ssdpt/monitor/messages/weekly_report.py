"""The report of a week: events, machines that get worse, hours listened, false alerts."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, computed_field

from ssdpt.alarms.outlook import Outlook
from ssdpt.alarms.severity import Severity
from ssdpt.monitor.language import LanguageCode
from ssdpt.monitor.messages.base import Model, Seconds
from ssdpt.monitor.messages.events import Event, Note

WorseCode = Literal["score", "alerts", "level", "band"]


class Worsening(Model):
    """One thing that got worse in a week, against the weeks before."""

    code: WorseCode
    before: float = Field(
        description="Mean of the weeks before: a score, hours in alert or alarm, or dB."
    )
    now: float
    low_hz: float | None = Field(None, description="Of a band.")
    high_hz: float | None = None


class MachineWeek(Model):
    """A week of one machine."""

    machine: str = Field(examples=["fan-1"])
    name: str
    site: str
    events: int
    alarms: int
    unacknowledged: int
    false_alerts: int = Field(description="Events that a person has marked as normal.")
    listened_hours: float | None = Field(description="Null: measured in snapshots.")
    lost_hours: float | None = Field(
        description="In which no sound arrived; null: recordings come now and then."
    )
    measurements: int | None = Field(description="Snapshots; null: sound is listened to.")
    worse: tuple[Worsening, ...]
    enough_history: bool = Field(description="Whether there are weeks before to compare with.")
    severity: Severity | None = Field(description="The worst of its events.")
    outlook: Outlook | None = Field(description="When it will reach alarm, as seen at the end.")


class WeeklyReport(Model):
    """What happened in a week: for the page, as PDF and by mail."""

    plant: str
    week: str = Field(examples=["2026-W46"])
    begin: Seconds
    end: Seconds
    until: Seconds = Field(description="Now, where the week is not over; else its end.")
    timezone: str = Field(examples=["Europe/Berlin"])
    language: LanguageCode
    machines: tuple[MachineWeek, ...]
    events: tuple[Event, ...] = Field(description="That began in the week, the oldest first.")
    events_left_out: int = Field(description="More events than a report can list.")
    notes: tuple[Note, ...] = Field(description="That people wrote on the trends.")

    @computed_field  # type: ignore[prop-decorator]
    @property
    def is_over(self) -> bool:
        """Whether the week is over."""
        return self.until >= self.end
