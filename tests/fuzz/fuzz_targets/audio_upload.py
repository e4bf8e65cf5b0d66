"""Sound that clients send: a line with the content type, then the body."""

from __future__ import annotations

import io

import numpy as np
from fuzz_oracle import Violation, wrong_in
from fuzz_target import FuzzTarget
from starlette.exceptions import HTTPException

from ssdpt.errors import SsdptError
from ssdpt.monitor.config import SensorSettings
from ssdpt.monitor.sources.pushed_source import PushedSettings, PushedSnapshots, PushedSource
from ssdpt.server.uploads import decode, decode_pcm


class Target(FuzzTarget):
    """Decodes a body as the server does, and gives it to both kinds of source."""

    share = 90
    longest = 8192
    words = (
        *(b"audio/L16;rate=16000;channels=2\n", b"audio/wav\n", b"audio/flac\n", b";rate*0=", b'"'),
        *(b"RIFF", b"WAVE", b"fmt ", b"data", b"fLaC", b"OggS", b"\xff\xff\xff\x7f"),
    )

    def run(self, data: bytes) -> None:
        kind, _, body = data.partition(b"\n")
        try:
            samples, rate = decode(io.BytesIO(body), kind.decode("latin-1"))
            if body:
                decode_pcm(body, 1 + body[0] % 3, "s16" if body[0] & 4 else "f32")
        except HTTPException as error:
            if not 400 <= error.status_code < 500 or wrong_in(error.detail, "the reply"):
                raise Violation(f"{error.status_code}: {error.detail}") from error
            return
        if not np.isfinite(samples).all():
            raise Violation("samples that are not numbers")
        for source in (
            PushedSource(PushedSettings(), 16000),
            PushedSnapshots(PushedSettings(), SensorSettings(snapshots=True)),
        ):
            try:
                source.push(samples, rate, samples.shape[1])
            except SsdptError as error:
                if wrong := wrong_in(str(error), "the sentence"):
                    raise Violation(wrong[0]) from error
