"""The diagrams follow the configuration, and their text fits into the boxes."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from ssdpt.config.tree import load_config
from ssdpt.experiments.report.diagram import SMALL_LETTER
from ssdpt.experiments.report.method_diagrams import dpt_block, flow_chart

OTHER = {"ssdpt.blocks": 2, "ssdpt.frames": 128, "features.n_mels": 64}
CONFIGS = [
    load_config("paper"),
    load_config("paper", OTHER),
    load_config("tiny"),
    load_config(
        "paper",
        {
            "ssdpt.mask.kind": "specaugment",
            "ssdpt.mixup": 0.0,
            "ssdpt.score": "dcase",
            "ssdpt.target": "standardised",
        },
    ),
]


def labels(diagram):
    return [arrow.label for arrow in diagram.arrows if arrow.label]


def texts(diagram):
    return [text for box in diagram.boxes for text in (box.title, *box.lines)] + labels(diagram)


def test_the_papers_shapes():
    chart, block = flow_chart(load_config("paper")), dpt_block(load_config("paper"))
    assert "160,000 samples" in labels(chart)
    assert "313 × 128" in labels(chart)
    assert "16 × 64 × 128  (a clip has 32)" in labels(chart)
    assert "250 × 64 × 128" in labels(chart)
    assert "B × 3" in labels(chart)
    assert "DPT: M = 3 blocks" in texts(chart)
    assert "3 squares of 5 × 5 (PM)" in texts(chart)
    assert "1 × 64 × 128" in labels(block)
    assert "1 × 128 × 64" in labels(block)
    assert {"8 heads of 16", "weights 8 × 64 × 64", "8 heads of 8"} <= set(texts(block))
    assert {"128 → 32 → 128, ReLU", "64 → 32 → 64, ReLU"} <= set(texts(block))


def test_another_configuration_changes_the_shapes():
    chart, block = (
        flow_chart(load_config("paper", OTHER), 5),
        dpt_block(load_config("paper", OTHER)),
    )
    assert "313 × 64" in labels(chart)
    assert "186 × 128 × 64" in labels(chart)
    assert "B × 5" in labels(chart)
    assert "DPT: M = 2 blocks" in texts(chart)
    assert not any("64 × 128" in text for text in labels(chart))
    assert labels(block)[0] == "1 × 128 × 64"
    assert "weights 8 × 128 × 128" in texts(block)
    assert any("M = 2" in note.text for note in block.notes)


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("draw", [flow_chart, dpt_block])
def test_text_fits_into_the_boxes_and_the_diagram(draw, config):
    diagram = draw(config)
    for box in diagram.boxes:
        assert box.fits, (box.title, box.lines)
        assert box.left >= 0
        assert box.right <= diagram.width
        assert box.bottom <= diagram.height
    for arrow in diagram.arrows:
        x, y = arrow.at
        width = len(arrow.label) * SMALL_LETTER
        left = x - width if arrow.anchor == "end" else x
        assert left >= 0
        assert left + width <= diagram.width
        if arrow.label:
            assert not [box.title for box in diagram.boxes if _covers(box, left, width, y)]


def _covers(box, left, width, y):
    beside = left + width <= box.left or left >= box.right
    return not beside and box.top < y - 8 and y < box.bottom


@pytest.mark.parametrize("draw", [flow_chart, dpt_block])
def test_the_svg_is_complete_and_has_light_and_dark_colours(draw):
    text = draw(load_config("paper")).svg()
    root = ElementTree.fromstring(text)
    assert root.attrib["role"] == "img"
    assert root.attrib["aria-label"]
    assert "prefers-color-scheme: dark" in text
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)
    assert draw(load_config("paper")).svg() == text
