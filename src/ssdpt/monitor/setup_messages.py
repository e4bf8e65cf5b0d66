"""What is said while a machine is set up: microphones, sources on trial, settings that change."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, computed_field

from ssdpt.monitor.config import MachineSettings
from ssdpt.monitor.messages.base import Model
from ssdpt.monitor.messages.status import Listening, Spectrogram
from ssdpt.sentences.coded_sentence import CodedSentence, Text, WithSentence, coded

DefinedIn = Literal["page", "file", "demo"]
BaselineAfter = Literal["kept", "ask", "new"]
BaselineChoice = Literal["keep", "new"]


class Microphone(Model):
    """A sound card of the service's computer that can record."""

    device: str = Field(
        description="What the setting `device` of a microphone source calls it.",
        examples=["USB Audio Device: - (hw:1,0)"],
    )
    name: str = Field(description="For people.")
    channels: int
    sample_rate: int = Field(description="Hz.")
    is_default: bool = Field(description="Whether an empty `device` means this one.")


class Microphones(Model):
    """The microphones of the service's computer, or why they cannot be listed."""

    microphones: tuple[Microphone, ...]
    problem: Text = Field(description="A sentence where they cannot be listed; empty = none.")

    @computed_field  # type: ignore[prop-decorator]
    @property
    def problem_sentence(self) -> CodedSentence | None:
        """The problem for other languages; null where there is none, or only its text."""
        return coded(self.problem)


class TrialStatus(WithSentence, Model):
    """A source that is opened for a moment; nothing that it sends is kept."""

    id: str = Field(examples=["3f2a"])
    connected: bool
    message: Text
    level_dbfs: float | None = Field(
        description="Of the last second or snapshot, against a full-scale sine; null before any."
    )
    sample_rate: int = Field(description="Hz; 0 before the first snapshot.")
    listening: Listening = Field(description="Whether it can be listened to live, or why not.")
    spectrogram: Spectrogram


class MachineDefinition(Model):
    """The settings of a machine, and where they can be changed."""

    settings: MachineSettings = Field(
        description="Passwords in addresses are shown as …; sent back so, they stay as they are."
    )
    defined_in: DefinedIn = Field(
        description="page: it can be changed here; file: in the configuration file, which always "
        "wins; demo: it cannot be changed."
    )
    file: str = Field(description="Name of the configuration file; empty in the demo.")
    also_on_page: bool = Field(
        description="Whether the page defines it as well; that definition is ignored."
    )


class ChangeEffect(Model):
    """What new settings mean for what a machine has learned."""

    baseline: BaselineAfter = Field(
        description="kept; ask: a person must say whether it is the same sound; new: one must be "
        "learned."
    )
