"""Sound files on disk: WAV, FLAC, OGG, MP3, AIFF and whatever else the decoder recognises."""

from __future__ import annotations

from fuzz_target import FuzzTarget

from ssdpt.data import audio
from ssdpt.data.measuring import measure
from ssdpt.types import Recording


class Target(FuzzTarget):
    """Reads the header and the samples, and measures all channels."""

    share = 250
    longest = 8192
    words = (
        *(b"RIFF", b"RIFX", b"RF64", b"BW64", b"WAVE", b"fmt ", b"data", b"ds64", b"fact", b"LIST"),
        *(b"fLaC", b"OggS", b"ID3", b"Xing", b"Info", b"FORM", b"AIFF", b"AIFC", b"COMM", b"SSND"),
        *(b"riff\x2e\x91\xcf\x11\xa5\xd6\x28\xdb\x04\xc1\x00\x00", b"caff", b".snd"),
        *(b"\x00\x00\x00\x00", b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", b"\x01\x00\x00\x00"),
    )

    def run(self, data: bytes) -> None:
        path = self.folder / "clip.wav"
        path.write_bytes(data)
        measure(Recording(path, "fan"))
        audio.read(path, 16000)
