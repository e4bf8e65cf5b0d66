"""What all kinds of sources share; each kind has its settings beside its class."""

from __future__ import annotations

from typing import ClassVar, Self

from pydantic import Field

from ssdpt.common.plugins import PluginRegistry
from ssdpt.config.kinds import KindSettings


class SourceSettings(KindSettings):
    """Where the sound of a machine comes from. `kind` decides which other settings there are."""

    registry = PluginRegistry(
        "source", package="ssdpt.monitor.sources", suffix="_source", group="ssdpt.sources"
    )
    # True: sound arrives in whole recordings, perhaps with long pauses between them.
    arrives_in_files: ClassVar[bool] = False
    gives_stream: ClassVar[bool] = True  # sound without pauses
    gives_snapshots: ClassVar[bool] = False  # short measurements taken at intervals

    max_silence: float | None = Field(
        5.0, gt=0, description="seconds without sound after which the source is lost; empty = never"
    )

    @property
    def reads_local_files(self) -> bool:
        """Whether it reads files of this computer. Such a source cannot be added by HTTP.

        True unless a kind says otherwise, so that a kind which forgets it opens no hole.
        """
        return True

    @property
    def playback_speed(self) -> float | None:
        """Speed relative to real time of sound that is played back; None: live sound."""
        return None

    def at_speed(self, speed: float) -> Self:
        """The same at another playback speed; unchanged where the sound is live."""
        return self

    def for_trial(self) -> Self:
        """The same for a trial beside the running service, from which it must take nothing."""
        return self

    def masked(self) -> Self:
        """The same without its secrets, as it may be shown; unchanged where it has none."""
        return self

    def with_secrets_of(self, stored: SourceSettings) -> Self:
        """The reverse of `masked`: hidden parts that come back are those of `stored`."""
        return self

    def same_sound(self, other: SourceSettings) -> bool:
        """Whether both certainly give the same sound; how long to wait for it may differ."""
        return _without_patience(self) == _without_patience(other)

    @classmethod
    def snapshot_kinds(cls) -> list[str]:
        """The kinds that give snapshots."""
        return [
            kind for kind in cls.registry.names() if cls.class_of({"kind": kind}).gives_snapshots
        ]


def _without_patience(source: SourceSettings) -> dict[str, object]:
    return source.model_dump(exclude={"max_silence", "timeout"})


class ChannelSettings(SourceSettings):
    """Common to sources whose sound can have several channels."""

    channel: int = Field(0, ge=0, description="which channel is used, counted from 0")


class PlaybackSettings(SourceSettings):
    """Common to sources that play sound at a chosen speed."""

    speed: float = Field(
        1.0, gt=0, description="playback speed relative to real time; that of the service's clock"
    )

    @property
    def playback_speed(self) -> float | None:
        return self.speed

    def at_speed(self, speed: float) -> Self:
        return self.model_copy(update={"speed": speed})
