"""Which extras of the package are installed."""

from __future__ import annotations

import re
from importlib import metadata

from ssdpt.doctor.finding import Finding

# In the order in which people need them. Extras for developers are not here.
PURPOSES = {
    "train": "fit, score, evaluate, reports",
    "serve": "live monitoring with a web page",
    "live": "record and monitor with microphones",
    "stream": "sound from network cameras and streams",
    "notify": "messages by mail, ntfy, Telegram, Teams and others",
    "voice": "cut voices out of what is stored",
    "opcua": "run state and speed by OPC UA",
    "postgres": "history in PostgreSQL",
    "sensors": "vibration files: MATLAB, HDF5, Parquet",
    "edge": "score exported models without torch",
    "onnx": "export to ONNX",
    "openvino": "export to OpenVINO",
    "parquet": "scores as Parquet files",
    "ray": "many computers by Ray",
}
_NAME = re.compile(r"^([A-Za-z0-9._-]+)(?:\[([^\]]+)\])?")
_EXTRA = re.compile(r"""extra\s*==\s*["']([\w-]+)["']""")


def distributions(extra: str) -> list[str]:
    """Names of the packages that an extra brings, with those of the extras inside it."""
    names = []
    for requirement in metadata.requires("ssdpt") or ():
        marker = _EXTRA.search(requirement)
        if marker is None or marker.group(1) != extra:
            continue
        match = _NAME.match(requirement)
        if match is None:
            continue
        name, inner = match.groups()
        if name == "ssdpt":
            for one in (inner or "").split(","):
                names += distributions(one.strip())
        else:
            names.append(name)
    return list(dict.fromkeys(names))


def extras() -> list[Finding]:
    """Every extra that people can install."""
    return [_extra(name, purpose) for name, purpose in PURPOSES.items()]


def _extra(name: str, purpose: str) -> Finding:
    absent = [one for one in distributions(name) if not _installed(one)]
    if not absent:
        return Finding(name, "ready", purpose)
    return Finding(
        name, "missing", f"{purpose} (needs {', '.join(absent)})", f"pip install 'ssdpt[{name}]'"
    )


def _installed(distribution: str) -> bool:
    try:
        metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return False
    return True
