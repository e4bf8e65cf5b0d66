"""docs/how-to/encoders.md: its sidecar is valid, and its way to export an encoder works."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch
import yaml

from ssdpt.config.encoder import EncoderConfig, EncoderSidecar
from ssdpt.config.tree import load_config
from ssdpt.features.encoder import LARGEST_BYTES, with_encoder

PAGE = (Path(__file__).parents[1] / "docs" / "how-to" / "encoders.md").read_text("utf-8")


def block(language):
    (text,) = re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    return text


class Spectrogram(torch.nn.Module):
    """(1, n) to (1, 1, bins, times)."""

    def forward(self, samples):
        window = torch.hann_window(800)
        spectrum = torch.stft(samples, 1024, 320, 800, window=window, return_complex=True)
        return torch.log(torch.view_as_real(spectrum).square().sum(-1) + 1e-5)[:, None]


def test_the_sidecar_is_valid_and_names_every_setting():
    sidecar = yaml.safe_load(block("yaml"))
    assert EncoderSidecar.model_validate(sidecar).window_seconds == 2
    assert set(sidecar) == set(EncoderSidecar.model_fields)


def test_the_limit_is_named():
    assert f"at most {LARGEST_BYTES / 1e9:g} GB" in PAGE


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_export_works(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    names = {"spectrogram": Spectrogram(), "network": torch.nn.Conv2d(1, 2, 9, stride=8)}
    exec(block("python"), names)
    Path("encoder.yaml").write_text("sample_rate: 32000", "utf-8")
    config = load_config("tiny", {"system": "texture", "encoder.file": "encoder.onnx"})
    assert with_encoder(config).part(EncoderConfig).dimensions == 2 * 64
    samples = np.random.default_rng(0).standard_normal((1, 50000)).astype(np.float32)
    (embedding,) = onnxruntime.InferenceSession("encoder.onnx").run(None, {"samples": samples})
    with torch.no_grad():
        expected = names["encoder"](torch.from_numpy(samples)).numpy()
    np.testing.assert_allclose(embedding, expected, atol=1e-4)
