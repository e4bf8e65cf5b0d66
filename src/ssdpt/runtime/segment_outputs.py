"""The outputs of several runs of a graph for one clip, joined to the clip's score."""

from __future__ import annotations

from array import array
from collections.abc import Mapping

import numpy as np

from ssdpt.errors import SsdptError
from ssdpt.runtime.manifest import MANIFEST, Manifest
from ssdpt.scoring.aggregate import ClipScore, aggregate
from ssdpt.scoring.gaussian import Gaussians

_EMBEDDING = "embedding"


def sections_of(output: np.ndarray, manifest: Manifest) -> np.ndarray:
    """An output (rows, sections) of a graph; SsdptError where it is of other sections."""
    if output.ndim != 2 or output.shape[1] != len(manifest.sections):
        raise of_another_graph(manifest)
    return output


def of_another_graph(manifest: Manifest) -> SsdptError:
    """The manifest describes another graph than the one beside it."""
    return SsdptError(
        f"the exported model of {manifest.machine} is damaged: its graph and its {MANIFEST} do not "
        "belong together; export it again"
    )


class SegmentOutputs:
    """Collects the segments of one clip, run by run, in little memory."""

    def __init__(self, manifest: Manifest, gaussians: Gaussians | None) -> None:
        self._manifest = manifest
        self._gaussians = gaussians
        # Of every part, the values of all segments, by section.
        self._values = {name: [array("f") for _ in manifest.sections] for name in manifest.parts}
        self._spectrum = np.zeros(manifest.features.n_mels)  # sum over the segments
        self._count = 0  # segments in `_spectrum`

    @property
    def names(self) -> list[str]:
        """The outputs that a run of the graph must give."""
        return [*self._values, *([_EMBEDDING] if self._gaussians else [])]

    def add(self, outputs: Mapping[str, np.ndarray], segments: slice = slice(None)) -> None:
        """Take `segments` of one run, each output (segments, …)."""
        for name, by_section in self._values.items():
            part = sections_of(outputs[name], self._manifest)[segments]  # (segments, sections)
            for number, values in enumerate(by_section):
                values.extend(part[:, number].tolist())
        if self._gaussians:
            spectra = outputs[_EMBEDDING][segments]  # (segments, bins)
            if spectra.shape[1:] != self._spectrum.shape:
                raise of_another_graph(self._manifest)
            self._spectrum = self._spectrum + spectra.sum(0, dtype=np.float64)
            self._count += len(spectra)

    def score_as(self, section: str) -> ClipScore:
        """The clip's score as one of the model's sections."""
        number = self._manifest.sections.index(section)
        steps = {
            "hop_seconds": self._manifest.hop_seconds,
            "segment_seconds": self._manifest.segment_seconds,
        }
        section_values = {name: by_section[number] for name, by_section in self._values.items()}
        if self._gaussians:
            (values,) = section_values.values()
            spectrum = self._spectrum / self._count
            return self._gaussians.clip_score(spectrum, values, section, **steps)
        parts = {name: np.array(values, np.float32) for name, values in section_values.items()}
        return aggregate(parts, self._manifest.weights_as(section), **steps)
