"""Seeds of readers of settings and models."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import yaml
from fuzz_target import ROOT, Seeds


def _many_anchors() -> bytes:
    """A thousand million values in some lines."""
    lines = [f"x{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 31)]
    return "\n".join(["x0: &a0 [1, 1]", *lines, ""]).encode()


def fit_config() -> Seeds:
    for path in (ROOT / "src/ssdpt/config/presets").glob("*.yaml"):
        yield path.stem, path.read_bytes()
    yield "timestamp", b"seed: !!timestamp 2026-13-99\n"
    yield "deep", b"system: " + b"[" * 450
    yield "anchors", _many_anchors() + b"system: *a30\n"
    yield "itself", b"audio: &a {sample_rate: *a}\n"
    yield "once-half-a-character", b'{"\\ud800": 1, "system": "\\udfff"}'
    yield "once-escapes", b'system: "\\e[31m\\0\\n\\L"\n'
    yield "merge", b"<<: {seed: 1}\naudio: &a {<<: *a}\n"


def monitor_config() -> Seeds:
    content = yaml.safe_load((ROOT / "deploy/monitor.yaml").read_text("utf-8"))
    yield "whole", json.dumps(content).encode()
    for number, machine in enumerate(content["machines"]):
        yield f"machine-{number}", yaml.safe_dump({"machines": [machine]}).encode()
    yield (
        "old",
        b"zone: Europe/Berlin\nmachines:\n- id: a\n  alarm: {per_week: 2, shortest: 4, settle: 9}\n"
        b"  source: {kind: microphone, every: 5}\noutputs:\n- {kind: mail, host: mail.example, "
        b"sender: a@b, to: [c@d], most_an_hour: 3}\nretention: {least_free_mb: 5}\n",
    )
    yield (
        "template",
        b"outputs:\n- {kind: webhook, url: 'http://a/', template: {a: '{{ event.peak }}'}}\n",
    )
    yield (
        "anchors",
        _many_anchors() + b"outputs: [{kind: webhook, url: 'http://a/', template: {a: *a30}}]",
    )


def data_folder() -> Seeds:
    yield "machines", b'[{"id": "pump", "source": {"kind": "pushed"}, "alarm": {"per_week": 1}}]'
    yield "last-run", b'{"last_alive": 1790000000.0, "stopped": true}'
    yield "deep", b"[" * 1500


def bearings() -> Seeds:
    yield "once-escapes", b'"\\e[2J\\n": {elements: x}'
    yield (
        "one",
        b"6205:\n  elements: 9\n  element_mm: 7.9\n  pitch_mm: 39.0\n  contact_degrees: 15\n"
        b"  source: a\n",
    )
    yield (
        "numbers",
        b"6205: {elements: 9, element_mm: 7.9, pitch_mm: 39, source: a}\n1.5: {}\n~: {}\n",
    )


def webhook_template() -> Seeds:
    yield (
        "mapping",
        b'{"text": "{{ event.message }}", "peak": "{{ event.peak }}", "list": [1, "{{ link }}"]}',
    )
    yield (
        "text",
        b'{"t": "{{ title }}", {% for c in event.comments %}"{{ loop.index }}": {{ c|tojson }},'
        b'{% endfor %} "a": 1}',
    )
    yield "power", b'{"a": "{{ 9**9**9**9 }}"}'
    yield (
        "loops",
        b"{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}1",
    )
    yield "long", b'{"a": "{{ \'a\' * 10**11 }}"}'
    yield "attributes", b'{"a": "{{ \'\'.__class__.__mro__[1].__subclasses__() }}"}'


def model_folder() -> Seeds:
    folder = ROOT / "tests/golden/formats/5"
    for name in ("config.json", "calibration.json", "data.json"):
        content = json.loads((folder / "gmm" / name).read_text("utf-8"))
        yield name.partition(".")[0], json.dumps(content).encode()
    head = json.loads((folder / "gmm/config.json").read_text("utf-8"))
    old = {**head, "format": 2, "system": {"hears": "log-mel", "portraits": {"00": {"a": {}}}}}
    yield "format-2", json.dumps(old).encode()
    yield "portraits", json.dumps({**old, "system": {"portraits": []}}).encode()
    views = json.loads((folder / "multiview/config.json").read_text("utf-8"))
    yield "views", json.dumps({**views, "digests": head["digests"]}).encode()
    yield "index", b'{"format": 1, "machines": {"fan": "a", "pump": "a"}}'
    yield "index-outside", b'{"format": 1, "machines": {"fan": "../../outside"}}'


def model_weights() -> Seeds:
    content = (ROOT / "tests/golden/formats/5/gmm/model.safetensors").read_bytes()
    yield "gmm", content
    length = int.from_bytes(content[:8], "little")
    yield "header", content[: 8 + length]
    yield "no-arrays", (2).to_bytes(8, "little") + b"{}"
    yield "long-header", (2**40).to_bytes(8, "little") + b"{}"


def export_manifest() -> Seeds:
    content = json.loads((Path(__file__).parent / "exported/manifest.json").read_text("utf-8"))
    yield "gmm", json.dumps(content).encode()
    yield "clips", json.dumps({**content, "clip_frames": 300, "averages_segments": True}).encode()
    yield "texture", json.dumps({**content, "front_end": "texture", "owners": []}).encode()


def encoder_sidecar() -> Seeds:
    yield (
        "full",
        b"sample_rate: 8000\nwindow_seconds: 0.5\npooling: max\nlicence: none\nsource: a\n",
    )
    yield "names", b"sample_rate: 8000\nwindow_seconds: 0.1\ninput: samples\noutput: embedding\n"
    yield "long-window", b"sample_rate: 1000000\nwindow_seconds: 60\n"
    yield "many-samples", b"sample_rate: 8000\nminimum_samples: 1000000000000\n"


def encoder_graph() -> Seeds:
    from tiny_encoders import write_encoder

    with tempfile.TemporaryDirectory() as folder:
        for kind in ("plain", "times", "foreign", "two inputs", "weights elsewhere"):
            yield kind.replace(" ", "-"), write_encoder(Path(folder) / "a.onnx", kind).read_bytes()


def checkpoint() -> Seeds:
    import torch
    from safetensors.torch import save

    about = {"format": 2, "identity": "a", "step": 3, "batch_size": 4}
    yield "whole", save({"a": torch.zeros(2, 3)}, {"about": json.dumps(about)})
    yield "list", save({"a": torch.zeros(1)}, {"about": "[]"})
    yield "deep", save({"a": torch.zeros(1)}, {"about": "[" * 1500})


def score_shards() -> Seeds:
    from ssdpt.scoring.rows import COLUMNS

    row = ",".join("normal" if name == "level" else "1" for name in COLUMNS)
    yield "part", f"{','.join(COLUMNS)}\n{row}\n{row}\n".encode()
    yield "faults", b"file,fault,start_s,end_s,low_hz,high_hz\na.wav,belt,0,1,100,200\n"
