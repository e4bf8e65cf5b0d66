"""A frozen encoder: an ONNX file that turns samples into an embedding, run by ONNX Runtime.

Such a file is data: it holds a graph of ONNX's own operators and its weights. Operators of other
libraries and weights in other files are refused.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ssdpt.config.encoder import EncoderConfig, EncoderSidecar
from ssdpt.config.registry import entry_of
from ssdpt.config.tree import Config
from ssdpt.config.validation import checked, read_yaml
from ssdpt.errors import SsdptError
from ssdpt.types import Floats

LARGEST_BYTES = 1_000_000_000
LONGEST_WINDOW = 4_000_000  # samples: a minute at 64 kHz
_SIDECARS = (".yaml", ".yml", ".json")
_SMALLEST_VALUE, _LARGEST_VALUE = 1e-3, 60_000.0  # frames are stored in 16 bits
_PROBE_LEVEL = 0.01  # full scale is 1


class Encoder:
    """A loaded encoder. Threads may share it."""

    def __init__(self, file: Path, content: bytes, sidecar: EncoderSidecar | None) -> None:
        """`sidecar` None: an SsdptError says what to write."""
        self.file = file
        self._session = _session(file, content)
        inputs, outputs = self._session.get_inputs(), self._session.get_outputs()
        if sidecar is None:
            raise _no_sidecar(file, inputs[0].name, outputs[0].name)
        self.sidecar = sidecar
        taken = _named(file, "input", inputs, sidecar.input)
        self._input, self._output = (
            taken.name,
            _named(file, "output", outputs, sidecar.output).name,
        )
        self._rank = len(taken.shape)
        fixed = taken.shape[-1] if self._rank else None
        known = [size for size in taken.shape[:-1] if isinstance(size, int)]
        if taken.type != "tensor(float)" or not 1 <= self._rank <= 3 or any(n > 1 for n in known):
            raise SsdptError(
                f"{file}: its input {taken.name} is {taken.type} of shape {taken.shape}; an "
                "encoder takes samples, float32 of shape (1, n): export it with the part that "
                "turns samples into a spectrogram"
            )
        self.is_fixed = isinstance(fixed, int)
        self.window = (
            fixed
            if isinstance(fixed, int)
            else max(sidecar.minimum_samples, round(sidecar.window_seconds * sidecar.sample_rate))
        )
        """Samples, at its own rate, that become one embedding."""
        if self.window > LONGEST_WINDOW:
            raise SsdptError(
                f"{file}: takes {self.window} samples for one embedding; {LONGEST_WINDOW} are the "
                "most: choose a smaller minimum_samples or window_seconds, or a smaller encoder"
            )
        self.dimensions = self._check()

    def __call__(self, samples: Floats) -> Floats:
        """Samples (window,) at its own rate to an embedding (dimensions,)."""
        values = self._run(samples)
        if not np.isfinite(values).all():
            raise SsdptError(f"{self.file}: the encoder gives values that are not finite numbers")
        return values.clip(-_LARGEST_VALUE, _LARGEST_VALUE)

    def _run(self, samples: Floats) -> Floats:
        shaped = samples.reshape((1,) * (self._rank - 1) + (-1,))
        try:
            (values,) = self._session.run([self._output], {self._input: shaped})
        except Exception as error:  # ONNX Runtime's errors have no base class of their own
            raise SsdptError(
                f"{self.file}: the encoder fails on {len(samples)} samples; is minimum_samples or "
                f"window_seconds in its sidecar too small? ({_short(error)})"
            ) from error
        rows = np.asarray(values, np.float32)
        if not 1 <= rows.ndim <= 3 or not rows.size or any(n > 1 for n in rows.shape[:-2]):
            raise SsdptError(
                f"{self.file}: its output {self._output} has the shape {rows.shape}; an encoder "
                "gives (1, d), or (1, times, d)"
            )
        rows = rows.reshape(-1, rows.shape[-1])  # (times, d)
        with np.errstate(over="ignore"):  # what is not finite is refused
            pooled: Floats = rows.max(0) if self.sidecar.pooling == "max" else rows.mean(0)
        return pooled

    def _check(self) -> int:
        """The number of values of an embedding; SsdptError where it is not one."""
        noise = np.random.default_rng(0).standard_normal(3 * self.window // 2).astype(np.float32)
        noise *= _PROBE_LEVEL
        embedding = self._run(noise[: self.window])
        longer = embedding if self.is_fixed else self._run(noise)
        if longer.shape != embedding.shape:
            raise SsdptError(
                f"{self.file}: {self.window} samples become {len(embedding)} values and "
                f"{len(noise)} samples {len(longer)}; an embedding has the same length for any "
                "sound: export it with a mean over time, or with an output (1, times, d)"
            )
        silence = np.zeros(self.window, np.float32)
        for values, sound in ((embedding, "noise"), (self._run(silence), "digital silence")):
            if not np.isfinite(values).all():
                raise SsdptError(
                    f"{self.file}: the encoder gives values that are not finite numbers for "
                    f"{sound}; export it in float32, with a floor before logarithms and divisions"
                )
        if np.array_equal(embedding, self._run(silence)):
            raise SsdptError(
                f"{self.file}: the encoder gives the same values for noise and for silence; it "
                "does not use its input: export it again"
            )
        largest = float(np.abs(embedding).max())
        if not _SMALLEST_VALUE <= largest <= _LARGEST_VALUE:
            raise SsdptError(
                f"{self.file}: the encoder gives values up to {largest:.3g}; export it with an "
                "output that is scaled to about 1"
            )
        return len(embedding)


def with_encoder(config: Config) -> Config:
    """The settings with all that is known of their encoder: sidecar, digest, size.

    The same settings come back where there is none. SsdptError where it cannot be used.
    """
    settings = config.part(EncoderConfig)
    if not settings.file:
        return config
    if EncoderConfig not in entry_of(config.system).settings:
        raise SsdptError(
            f"system {config.system} takes no encoder; use preset best or system texture, or omit "
            "--encoder"
        )
    if settings.is_found:
        encoder_of(settings)  # it is still the same file
        return config
    file = Path(settings.file).absolute()
    content = _content(file)
    encoder = Encoder(file, content, settings.sidecar or _read_sidecar(file))
    found = {
        "file": str(file),
        "sidecar": encoder.sidecar,
        "digest": _digest(content),
        "dimensions": encoder.dimensions,
    }
    return config.with_parts(settings.model_copy(update=found))


def encoder_of(settings: EncoderConfig) -> Encoder:
    """The encoder that a fit has found; SsdptError where its file is another one now."""
    assert settings.sidecar is not None
    return _open(settings.file, settings.digest, settings.sidecar)


@lru_cache(maxsize=4)
def _open(file: str, digest: str, sidecar: EncoderSidecar) -> Encoder:
    content = _content(Path(file))
    if _digest(content) != digest:
        raise SsdptError(
            f"{file}: this encoder has changed since the fit; put the old file back, or fit again"
        )
    return Encoder(Path(file), content, sidecar)


def _content(file: Path) -> bytes:
    try:
        size = file.stat().st_size
        if size > LARGEST_BYTES:
            raise SsdptError(
                f"{file}: {size / 1e9:.1f} GB; an encoder goes into every model folder and may "
                f"have {LARGEST_BYTES / 1e9:g} GB at most: use a smaller one"
            )
        return file.read_bytes()
    except OSError as error:
        raise SsdptError(
            f"{file}: this encoder cannot be read: {error.strerror}; give an ONNX file"
        ) from error


def _digest(content: bytes) -> str:
    """As `ssdpt.common.files.digest` has it."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def _read_sidecar(file: Path) -> EncoderSidecar | None:
    for suffix in _SIDECARS:
        beside = file.with_suffix(suffix)
        if beside.is_file():
            try:
                text = beside.read_text("utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise SsdptError(f"{beside}: cannot be read as text ({error})") from error
            return checked(EncoderSidecar, read_yaml(text, str(beside)) or {}, str(beside))
    return None


def _no_sidecar(file: Path, input_name: str, output_name: str) -> SsdptError:
    return SsdptError(
        f"{file}: there is no sidecar that says at which rate it takes samples; write "
        f"{file.with_suffix('.yaml')}, for example: {{sample_rate: 32000, window_seconds: 2, "
        f"pooling: mean, input: {input_name}, output: {output_name}, licence: MIT}}"
    )


def _session(file: Path, content: bytes) -> Any:
    try:
        import onnxruntime
    except ModuleNotFoundError as error:
        raise SsdptError(
            f"{file}: an encoder needs onnxruntime: pip install 'ssdpt[edge]'"
        ) from error
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # an error becomes one sentence below
    # Clips are described on all cores at once, each on one.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    # Weights in other files would be missing in the model folder: no folder has any.
    folder = str(file / "none")
    options.add_session_config_entry("session.model_external_initializers_file_folder_path", folder)
    try:
        return onnxruntime.InferenceSession(
            content, options, providers=["CPUExecutionProvider"], enable_fallback=0
        )
    except Exception as error:  # its errors have no base class of their own
        raise SsdptError(
            f"{file}: not an encoder that ONNX Runtime {onnxruntime.__version__} can load; it "
            "must be one ONNX file with its weights inside, and ONNX's own operators "
            f"({_short(error)})"
        ) from error


def _named(file: Path, kind: str, items: list[Any], name: str) -> Any:
    """The input or output with this name, or the only one."""
    names = [item.name for item in items]
    if not name and len(items) == 1:
        return items[0]
    if name not in names:
        raise SsdptError(
            f"{file}: set {kind} in its sidecar to one of its {kind}s: {', '.join(names)}"
        )
    if kind == "input" and len(items) > 1:
        raise SsdptError(
            f"{file}: has {len(items)} inputs ({', '.join(names)}); an encoder takes samples only"
        )
    return items[names.index(name)]


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
