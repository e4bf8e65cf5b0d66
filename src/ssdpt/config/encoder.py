"""The settings of an encoder: a network of another project that turns samples into an embedding."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from ssdpt.config.settings import Settings, SystemSettings


class EncoderSidecar(Settings):
    """What an ONNX file does not say itself: the sidecar beside it, YAML or JSON."""

    sample_rate: int = Field(ge=1000, le=1_000_000, description="Hz, of the samples it takes")
    window_seconds: float = Field(
        2.0, gt=0, le=60, description="of sound that become one embedding; a fixed input sets it"
    )
    minimum_samples: int = Field(1, ge=1, description="fewest samples it takes")
    pooling: Literal["mean", "max"] = Field(
        "mean", description="over the embeddings of a clip, and over the times of an output"
    )
    input: str = Field("", description="name of the input; empty = the only one")
    output: str = Field("", description="name of the output; empty = the only one")
    licence: str = Field("", max_length=2000, description="of the weights, in any words")
    source: str = Field("", max_length=2000, description="where they come from, in any words")


class EncoderConfig(SystemSettings):
    """A frozen encoder, whose embeddings are a further view of a clip."""

    key: ClassVar[str] = "encoder"

    file: str = Field(
        "", description="an ONNX file that turns samples into an embedding; empty = none"
    )
    weight: float = Field(1.0, gt=0, description="of its view in the score; hand-made views have 1")
    sidecar: EncoderSidecar | None = Field(
        None, description="what FILE.yaml or FILE.json beside it says; read where it is not set"
    )
    digest: str = Field("", description="of the file's content; found at the fit")
    dimensions: int = Field(0, ge=0, description="values of an embedding; found at the fit")

    @property
    def is_found(self) -> bool:
        """Whether all is known that a fit finds out."""
        return self.sidecar is not None and bool(self.digest) and self.dimensions > 0
