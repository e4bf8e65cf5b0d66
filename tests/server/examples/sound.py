"""Sound as pictures, spectra, diagnosis lines and recordings."""

from __future__ import annotations

from examples.machines import TIME
from ssdpt.diagnosis.analysis import EnvelopeLines, SoundAnalysis, SpectrumLines
from ssdpt.diagnosis.catalogue import BearingCatalogue
from ssdpt.diagnosis.lines import LineSet, NamedLine, ShaftSpeed, diagnosis_lines
from ssdpt.diagnosis.machine_data import BearingSettings, MachineData
from ssdpt.monitor.messages import EventSpectrogram, KeptRecording, Spectrogram, Spectrum
from ssdpt.server.schemas import Bearing

RECORDING = "00112233445566778899aabbccddeeff"
HZ = (100.0, 200.0, 400.0, 800.0)


def named_line():
    return NamedLine(kind="bpfo", part="drive end", hz=107.9, line_hz=107.907, harmonics=2)


def bearing():
    return Bearing.of("UER204", BearingCatalogue.shipped()["UER204"])


def line_set():
    """Of a bearing at 2100 rpm."""
    data = MachineData(bearings=(BearingSettings(label="drive end", name="UER204"),), blades=7)
    geometries = data.geometries(BearingCatalogue.shipped())
    lines = diagnosis_lines(data, geometries, ShaftSpeed(2100.0, 0.002))
    return LineSet(speed_rpm=2100.0, speed_origin="fixed", lines=lines)


def sound_analysis():
    levels = (-80.0, -60.0, -70.0, -50.0)
    return SoundAnalysis(
        seconds=10.0,
        spectrum=SpectrumLines(spacing_hz=0.5, levels=levels, normal=levels),
        envelope=EnvelopeLines(
            spacing_hz=0.1,
            levels=levels,
            normal=(),
            band_hz=(2000.0, 4000.0),
            automatic=True,
            bands_hz=((1000.0, 2000.0), (2000.0, 4000.0)),
        ),
        lines=line_set(),
    )


def kept_recording(id=RECORDING, **changes):
    fields = {
        "machine": "fan-1",
        "begin": TIME - 600,
        "end": TIME,
        "who": "ann",
        "at": TIME + 1,
        "note": "knocks when the valve closes",
        "bytes": 4_800_000,
        "sample_rate": 16000,
    }
    return KeptRecording(id=id, **fields | changes)


def spectrum():
    """Where there is no upper bound yet: not a number, which JSON sends as null."""
    nan = float("nan")
    levels = (-60.0, -55.0, -50.0, -45.0)
    return Spectrum(hz=HZ, now=levels, low=levels, mean=levels, high=(nan,) * len(HZ))


def spectrogram(seconds=3.0, **changes):
    fields = {
        "hz": HZ,
        "begin": TIME - seconds,
        "seconds_per_column": 1.0,
        "columns": ((0, 80, 160, 255),) * int(seconds),
        "low_db": -100.0,
        "high_db": 0.0,
    }
    return Spectrogram(**fields | changes)


def event_spectrogram():
    shown = spectrogram()
    anomaly_map = ((0, 1, 2, 255),) * len(shown.columns)
    return EventSpectrogram(**dict(shown), anomaly_map=anomaly_map)
