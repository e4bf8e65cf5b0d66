"""The page of the paper's experiments, and the files beside it."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from importlib import resources

import numpy as np
import pytest
import yaml

from paper_fakes import CONFIG, fake_results
from ssdpt.experiments.claims.claims import SMOKE
from ssdpt.experiments.claims.published import published
from ssdpt.experiments.paper.variants import EXPERIMENTS
from ssdpt.experiments.report.page import write_report
from ssdpt.experiments.report.table_formats import ORACLE

UNUSUAL_NAMES = ("va<l>ve & co",)
VOID = {"meta", "br", "path", "rect", "use", "image", "circle", "link"}


class Reader(HTMLParser):
    """Collects links, headings and ids, and checks that every tag is closed."""

    def __init__(self):
        super().__init__()
        self.open, self.links, self.headings, self.captions, self.ids = [], [], [], [], []
        self.tables = self.images = self.titled = 0

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if tag not in VOID:
            self.open.append(tag)
        if "href" in attributes and tag == "a":
            self.links.append(attributes["href"])
        if "id" in attributes:
            self.ids.append(attributes["id"])
        self.tables += tag == "table"
        self.images += tag == "svg"
        self.titled += tag == "svg" and bool(attributes.get("aria-label"))

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "h2":
            self.headings.append(data)
        if self.open and self.open[-1] == "caption":
            self.captions.append(data)


def read(page):
    reader = Reader()
    reader.feed(page.read_text("utf-8"))
    assert reader.open == []
    return reader


def write(out, results, experiments, **changes):
    clip = np.random.default_rng(0).normal(-40, 5, (100, 128)).astype(np.float32)
    return write_report(
        results,
        CONFIG,
        out,
        experiments=experiments,
        **{
            "command": "ssdpt paper all --out 'a <b>'",
            "example": clip,
            "error": "mean",
            "facts": {"device": "cpu", "data": "<root> & more"},
            **changes,
        },
    )


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    results = fake_results(
        EXPERIMENTS,
        machines=UNUSUAL_NAMES,
        clips=2,
        sections=("00", "01"),
        seeds=1,
        quick=True,
        notes=("one <section> only",),
        failures={"ae fan seed 0": "loss <NaN>"},
    )
    return write(tmp_path_factory.mktemp("paper"), results, EXPERIMENTS)


def test_everything_is_written(page):
    out = page.parent
    assert page.name == "paper.html"
    names = ("main", "per-machine", "masking", "patches", "blocks", "beta", "parameters", "claims")
    assert sorted(path.name for path in (out / "tables").iterdir()) == sorted(
        f"{name}.{kind}" for name in names for kind in ("md", "csv", "json")
    )
    drawn = ("machines-h-auc", "machines-h-pauc", "masking", "masks", "patches", "blocks")
    figures = [*drawn, "beta-curves", "beta-boxes"]
    assert sorted(path.name for path in (out / "figures").iterdir()) == sorted(
        [f"{name}.{kind}" for name in figures for kind in ("svg", "png")]
        + ["flow-chart.svg", "dpt-block.svg"]
    )


def test_order_headings_captions_and_alternative_texts(page):
    reader = read(page)
    assert reader.headings == [
        *("Method", "What was run", "All systems (Table I)", "Masking methods"),
        *("Number and size of patch masks", "DPT blocks and segment length (Table II)"),
        *("Weight β of the reconstruction error", "Claims"),
        "Where the paper is silent or contradicts itself",
    ]
    assert len(reader.captions) == reader.tables == 9
    assert reader.images == reader.titled == 10
    assert len(set(reader.ids)) == len(reader.ids)


def test_the_page_is_self_contained(page):
    text = page.read_text("utf-8")
    assert "<script" not in text
    assert not re.search(r'(?:src|href)="(?!#|cells/|tables/|figures/|data:)', text)
    assert not re.search(r"url\((?!#)", text)


def test_links_point_to_files_and_cells(page):
    reader = read(page)
    for link in reader.links:
        if link.startswith(("tables/", "figures/")):
            assert (page.parent / link).is_file()
        elif link.startswith("#"):
            assert link[1:] in reader.ids
        else:
            assert link.startswith("cells/")
    assert "cells/ssdpt-va%3Cl%3Eve%20%26%20co-0/" in reader.links


def test_everything_is_escaped(page):
    text = page.read_text("utf-8")
    for raw in ("va<l>ve", "<root>", "a <b>'", "one <section> only", "loss <NaN>"):
        assert raw not in text
    for safe in ("va&lt;l&gt;ve &amp; co", "&lt;root&gt; &amp; more", "loss &lt;NaN&gt;"):
        assert safe in text


def test_a_smoke_run_has_a_banner_and_stamps(page):
    text = page.read_text("utf-8")
    assert f'<p class="banner">{SMOKE}</p>' in text
    assert f'<span class="stamp">{SMOKE}</span>' in text


def test_the_oracle_is_grey_and_labelled(page):
    text = page.read_text("utf-8")
    label = ORACLE.replace("'", "&#x27;")
    assert f'<small class="oracle" title="{label}">(' in text
    assert text.count(f"In grey: the epoch {label}.") >= 5


def test_every_claim_and_every_open_point_is_shown(page):
    text = page.read_text("utf-8")
    for name in published().statements:
        assert f'id="claim-{name}"' in text
    points = yaml.safe_load(
        resources.files("ssdpt.experiments.claims")
        .joinpath("contradictions.yaml")
        .read_text("utf-8")
    )
    assert len(points) == 21
    for point in points:
        assert set(point) == {"point", "paper", "code", "here"}
        assert f">{point['point']}</th>" in text
    for word in ("✗ does not hold", "✓ holds", "– no numbers", "– not measured"):
        assert word in text


def test_only_the_chosen_experiments(tmp_path):
    results = fake_results(("masking",), machines=("fan",), clips=2, sections=("00",), seeds=2)
    page = write(tmp_path, results, ("masking",), example=None)
    assert {path.stem for path in (tmp_path / "tables").iterdir()} == {"masking", "claims"}
    assert "masks.png" not in {path.name for path in (tmp_path / "figures").iterdir()}
    text = page.read_text("utf-8")
    assert '<p class="banner">' not in text
    assert "Table II)</h2>" not in text
    assert 'logs <a href="cells/mask-PM-fan-0/">1</a> <a href="cells/mask-PM-fan-1/">2</a>' in text
    claims = json.loads((tmp_path / "tables" / "claims.json").read_text("utf-8"))["rows"]
    assert {row["verdict"] for row in claims if row["claim"].startswith("beta-")} == {
        "not measured"
    }


def test_missing_networks_for_beta_are_noted(tmp_path):
    results = fake_results(("beta",), machines=("fan",), clips=2, seeds=1, missing=lambda *_: True)
    page = write(tmp_path, results, ("beta",))
    assert "Not measured: the required cells are missing." in page.read_text("utf-8")


def test_the_flow_chart_shows_the_number_of_machine_ids(page):
    assert "I = 2 classes" in page.read_text("utf-8")
