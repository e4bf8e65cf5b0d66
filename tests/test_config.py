"""One tree of settings: presets are valid, the paper's values are kept, mistakes are named."""

from __future__ import annotations

from importlib import resources

import pytest
import yaml

from ssdpt.config.tree import (
    AUTO_HOP,
    config_type,
    load_config,
    parse_override,
    preset_names,
    with_hop,
)
from ssdpt.errors import SsdptError

# A thousand million values in thirty lines.
MANY_ANCHORS = "\n".join(
    ["x0: &a0 [1, 1]", *(f"x{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 31))]
).encode()


def _leaves(model, prefix=""):
    for name, field in type(model).model_fields.items():
        value = getattr(model, name)
        if hasattr(type(value), "model_fields"):
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", field, value


@pytest.mark.parametrize("name", preset_names())
def test_every_shipped_preset_parses(name):
    config = load_config(name)
    assert config.preset == name
    assert config_type().model_validate(config.model_dump()) == config


def test_there_are_the_promised_presets():
    assert {"paper", "fast", "tiny"} <= set(preset_names())


def test_paper_preset_is_the_paper():
    paper = load_config("paper")
    assert paper.system == "ssdpt"
    assert (paper.audio.sample_rate, paper.features.n_fft, paper.features.hop_length) == (
        *(16000, 1024, 512),
    )
    assert (paper.features.n_mels, paper.features.f_min, paper.features.f_max) == (128, 0.0, None)
    s = paper.ssdpt
    assert (s.blocks, s.frames, s.heads, s.feed_forward) == (3, 64, 8, 32)
    assert (s.mask.kind, s.mask.patches, s.mask.patch_size) == ("patch", 3, 5)
    assert (s.mask.stripes, s.mask.stripe_width) == (2, 4)
    assert (s.mixup, s.alpha, s.beta, s.hop) == (1.0, 0.001, 0.001, 1)
    assert (s.target, s.error, s.score, s.classes) == ("raw", "mean", "log-odds", "section")
    t = s.training
    assert (t.epochs, t.batch_size, t.optimiser, t.learning_rate) == (30, 16, "adamw", 1e-4)
    assert (t.weight_decay, t.schedule, t.decay, t.hop) == (0.01, "exponential", 0.95, 8)
    assert (t.clip_norm, t.carry_gradients, t.averaging, t.warmup) == (0.5, False, 0.0, 0.0)
    assert paper.decision.false_alarm_rate == 0.1


def test_paper_preset_writes_every_value_of_the_method_out():
    """A change of the code's defaults must not be able to change the paper."""
    text = (resources.files("ssdpt.config") / "presets" / "paper.yaml").read_text("utf-8")
    written = {
        name
        for name, _, _ in _leaves(load_config("paper").ssdpt)
        if not _missing(yaml.safe_load(text)["ssdpt"], name)
    }
    every = {name for name, _, _ in _leaves(load_config("paper").ssdpt)}
    assert every - written == {"training.checkpoint_seconds"}


def _missing(tree, name):
    for part in name.split("."):
        if part not in tree:
            return True
        tree = tree[part]
    return False


def test_every_setting_is_documented():
    bare = [
        name
        for name, field, _ in _leaves(config_type()())
        if not field.description
        # A system's own defaults of what is documented at ssdpt.training.
        and not (".training." in name and not name.startswith("ssdpt."))
    ]
    assert bare == []


def test_the_dcase_baselines_own_training():
    training = load_config("paper").ae.training
    assert (training.epochs, training.batch_size, training.optimiser) == (100, 512, "adam")
    assert (training.learning_rate, training.schedule, training.clip_norm) == (
        *(1e-3, "constant", None),
    )


def test_overrides_reach_every_depth():
    config = load_config("tiny", {"seed": 7, "ssdpt.training.epochs": 9, "ssdpt.mask.kind": "time"})
    assert (config.seed, config.ssdpt.training.epochs, config.ssdpt.mask.kind) == (7, 9, "time")


def test_a_yaml_file_of_ones_own(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("ssdpt: {blocks: 2}\n")
    config = load_config(str(path))
    assert (config.preset, config.ssdpt.blocks) == ("mine", 2)


@pytest.mark.parametrize(
    ("overrides", "named"),
    [
        ({"ssdpt.blocs": 2}, "ssdpt.blocs"),
        ({"nonsense": 1}, "nonsense"),
        ({"ssdpt.blocks": "many"}, "ssdpt.blocks"),
        ({"ssdpt.blocks": 0}, "ssdpt.blocks"),
        ({"ssdpt.mask.kind": "squares"}, "ssdpt.mask.kind"),
        ({"system": "svm"}, "system"),
        ({"seed": -1}, "seed"),
        ({"seed": 2**40}, "seed"),
        ({"decision.false_alarm_rate": 1.5}, "decision.false_alarm_rate"),
        ({"ssdpt.frames": 60}, "multiple of heads"),
        ({"features.n_mels": 100}, "n_mels"),
        ({"ssdpt.frames": 16, "ssdpt.mask.patch_size": 20}, "patch mask"),
        ({"features.f_max": 9000.0}, "f_max"),
        ({"features.f_min": 8000.0}, "f_min"),
        ({"features.hop_length": 2000}, "hop_length"),
        ({"ssdpt.training.optimiser": "adam"}, "weight_decay"),
        ({"ae.training.batch_size": 1}, "ae.training.batch_size"),
        ({"seed.more": 1}, "seed.more"),
        ({"ssdpt": 5}, "ssdpt"),
    ],
)
def test_a_wrong_setting_is_named_in_one_line(overrides, named):
    base = {"seed": 0} if "seed.more" in overrides else {}
    with pytest.raises(SsdptError) as caught:
        load_config("paper", base | overrides)
    assert named in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("overrides", "sentence"),
    [
        (
            {"ssdpt.blocs": 2},
            "there is no setting 'ssdpt.blocs'; did you mean 'ssdpt.blocks'?",
        ),
        (
            {"ssdpt.epochs": 2},
            "there is no setting 'ssdpt.epochs'; did you mean 'ssdpt.training.epochs'?",
        ),
        (
            {"audio.zzz": 2},
            "there is no setting 'audio.zzz'; there are sample_rate, keep_rate, channel, unit, "
            "full_scale, clip_seconds",
        ),
        ({"ssdpt.blocks": 1.5}, "setting ssdpt.blocks: must be a whole number"),
        ({"seed": 2**40}, "setting seed: must be less than 4294967296"),
        (
            {"ssdpt.error": "max"},
            "setting ssdpt.error: 'max' is not valid; choose mean or sum",
        ),
        ({"ssdpt.frames": 60}, "setting ssdpt: frames (60) must be a multiple of heads (8)"),
        (
            {"features.n_mels": 100},
            "features.n_mels (100) must be a multiple of ssdpt.heads (8)",
        ),
        (
            {"seed": -1, "ssdpt.blocks": 0},
            "(1) setting seed: must be at least 0; (2) setting ssdpt.blocks: must be at least 1",
        ),
    ],
)
def test_a_wrong_setting_is_explained(overrides, sentence):
    with pytest.raises(SsdptError) as caught:
        load_config("paper", overrides)
    assert str(caught.value) == f"paper: {sentence}"


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        (
            "a.yaml",
            b"ssdpt: !!timestamp now",
            "a.yaml: not valid YAML: a value does not fit the tag",
        ),
        ("a.yaml", b"[" * 9999, "a.yaml: not valid YAML: nested too deeply$"),
        ("a.yaml", MANY_ANCHORS, "a.yaml: not valid YAML: anchors .* that repeat each other"),
        ("a.yaml", b"system: &a [*a]", "a.yaml: not valid YAML: anchors .* or themselves"),
        ("a.yaml", rb'system: "\ud800"', "a.yaml: .*not valid Unicode"),
        ("a.yaml", b"ssdpt: [", "a.yaml: not valid YAML: line 1: a bracket is not closed$"),
        ("a.yaml", b"- 1\n- 2\n", "name: value"),
        ("a.yaml", b"\xff\xfe\x00", "not a text file"),
        ("absent.yaml", None, "cannot read"),
        ("papr", None, "no preset is called"),
    ],
)
def test_a_wrong_file_is_named_in_one_line(tmp_path, name, content, reason):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SsdptError, match=reason) as caught:
        load_config(str(path) if name.endswith("yaml") else name)
    assert "\n" not in str(caught.value)


def test_settings_on_the_command_line_have_types():
    assert parse_override("a.b=5") == ("a.b", 5)
    assert parse_override("a=true") == ("a", True)
    assert parse_override("a=null") == ("a", None)
    assert load_config("tiny", dict([parse_override("ssdpt.alpha=1e-2")])).ssdpt.alpha == 0.01
    for text in ("epochs", "=5", "a=[1", "a=2026-13-45", "a=!!timestamp x", "a=" + "[" * 9999):
        with pytest.raises(SsdptError):
            parse_override(text)


def test_settings_cannot_be_changed_by_accident():
    with pytest.raises(ValueError, match="frozen"):
        load_config("tiny").seed = 3


class TestHop:
    """`with_hop` changes how often a clip is scored and nothing else."""

    def test_a_number_or_its_text(self):
        config = load_config("fast")
        for hop in (4, "4"):
            changed = with_hop(config, hop)
            assert changed.ssdpt.hop == 4
            assert changed.model_copy(update={"ssdpt": config.ssdpt}) == config
        assert config.ssdpt.hop == 8

    def test_auto_is_the_measured_one_within_a_segment(self):
        assert with_hop(load_config("paper"), "auto").ssdpt.hop == AUTO_HOP
        short = load_config("paper", {"ssdpt.frames": 8})
        assert with_hop(short, "auto").ssdpt.hop == 8

    def test_of_the_gaussian_it_is_the_timeline(self):
        changed = with_hop(load_config("fast", {"system": "gmm"}), 64)
        assert (changed.gmm.hop, changed.ssdpt.hop) == (64, 8)

    def test_the_autoencoder_has_none(self):
        with pytest.raises(SsdptError, match="system ae has no hop to choose"):
            with_hop(load_config("fast", {"system": "ae"}), 1)

    @pytest.mark.parametrize("hop", [0, -1, 65, "0", "-1", "abc", "", "1.5", 1.5, "AUTO", True])
    def test_what_is_no_hop(self, hop):
        with pytest.raises(SsdptError, match=f"from 1 to 64, .* not {hop}$"):
            with_hop(load_config("fast"), hop)
