"""What a machine that is added by HTTP may name: no file of this computer, whoever asks."""

from __future__ import annotations

from ssdpt.errors import SsdptError
from ssdpt.monitor.config import MachineSettings, NetworkSettings

SCHEMES = ("rtsp", "rtsps", "rtmp", "http", "https", "udp", "rtp", "srt", "tcp")
_OF_FILES = ("folder", "replay")


def check_addition(machine: MachineSettings) -> None:
    """SsdptError where only someone who writes the plant file may ask for it."""
    source = machine.source
    if machine.model is not None:
        raise SsdptError(
            f"machine {machine.id}: a model is a folder of the service's computer; "
            "it is named in the plant file only"
        )
    if source.kind in _OF_FILES:
        raise SsdptError(
            f"machine {machine.id}: a {source.kind} source reads files of the service's computer; "
            "it is named in the plant file only"
        )
    if isinstance(source, NetworkSettings) and not _is_stream(source.url):
        raise SsdptError(
            f"machine {machine.id}: the address of a stream begins with one of "
            f"{', '.join(SCHEMES)} and ://; a file is named in the plant file only"
        )


def _is_stream(url: str) -> bool:
    scheme, mark, _ = url.partition("://")
    return bool(mark) and scheme in SCHEMES
