"""What a machine that is added by HTTP may use: no files of the service's computer."""

from __future__ import annotations

from ssdpt.errors import SsdptError
from ssdpt.monitor.config import MachineSettings, NetworkSettings

SCHEMES = ("rtsp", "rtsps", "rtmp", "http", "https", "udp", "rtp", "srt", "tcp")
_FILE_SOURCES = ("folder", "replay")


def check_addition(machine: MachineSettings) -> None:
    """SsdptError if the machine must be in the configuration file."""
    source = machine.source
    if machine.model is not None:
        raise SsdptError(
            f"machine {machine.id}: a model is a folder of the service's computer; "
            "name it in the configuration file"
        )
    if source.kind in _FILE_SOURCES:
        raise SsdptError(
            f"machine {machine.id}: a {source.kind} source reads files of the service's computer; "
            "name it in the configuration file"
        )
    if isinstance(source, NetworkSettings) and not _is_stream(source.url):
        raise SsdptError(
            f"machine {machine.id}: the address of a stream starts with one of "
            f"{', '.join(SCHEMES)} and ://; for a file, name it in the configuration file"
        )


def _is_stream(url: str) -> bool:
    scheme, separator, _ = url.partition("://")
    return bool(separator) and scheme in SCHEMES
