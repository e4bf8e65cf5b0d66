"""A stored recording as a reply, as it is or as a WAV file."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Annotated, Any, Literal

import soundfile
from fastapi import Query, Response
from fastapi.responses import FileResponse
from starlette.exceptions import HTTPException

from ssdpt.sentences import Sentence

_MEDIA_TYPES = {".flac": "audio/flac", ".wav": "audio/wav", ".ogg": "audio/ogg"}
_HEADERS = {"Cache-Control": "private, no-cache"}

AudioFormat = Annotated[
    Literal["flac", "wav"],
    Query(description="flac: as it is stored; the header Range selects a part. wav: 16 bits."),
]
AUDIO_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"content": {"audio/flac": {}, "audio/wav": {}}, "description": "A recording."}
}


def recording_reply(path: Path | None, format: str, missing: str) -> Response:
    """The recording; 404 with the sentence `missing` where there is none."""
    if path is None:
        raise HTTPException(404, missing)
    try:
        if format == "wav":
            return Response(_wav_bytes(path), media_type="audio/wav", headers=_HEADERS)
        media_type = _MEDIA_TYPES.get(path.suffix, "application/octet-stream")
        return FileResponse(path, media_type=media_type, headers=_HEADERS, stat_result=path.stat())
    except (FileNotFoundError, soundfile.LibsndfileError) as error:
        raise HTTPException(404, Sentence("api.recordingRemoved")) from error


def _wav_bytes(path: Path) -> bytes:
    samples, rate = soundfile.read(path, dtype="int16")
    file = io.BytesIO()
    soundfile.write(file, samples, rate, format="WAV", subtype="PCM_16")
    return file.getvalue()
