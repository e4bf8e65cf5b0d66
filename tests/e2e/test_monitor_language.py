"""The page in German, Spanish and Japanese: chosen by the browser or by hand."""

from __future__ import annotations

import re

import pytest
from browser_pages import PHONE, shot
from monitor_service import ConfiguredService, MockService, barriers, panel
from playwright.sync_api import expect

from free_ports import free_port

pytestmark = pytest.mark.needs_browser

# What leaves the screen on the right, but for tables that are scrolled by themselves.
OUTSIDE = """[...document.querySelectorAll('a, button, h1, h2, p, dt, dd, label, .badge, .tag')]
  .filter((element) => element.getBoundingClientRect().right > innerWidth + 1)
  .filter((element) => !element.closest('.scrolled, .unseen, .skip'))
  .map((element) => element.textContent)"""


@pytest.fixture(scope="module")
def plant():
    with MockService() as service:
        yield service


def addresses(plant):
    event = next(each for each in plant.get("v1/events?machine=pump-1") if each["findings"])
    pages = ["overview", "machine/fan-roof", f"event/{event['id']}", "events", "settings", "add"]
    return [*pages, "report", "models", "edit/fan-roof"]


@pytest.mark.parametrize(
    ("locale", "language", "titles"),
    [
        (
            "de-AT",
            "de",
            [
                *("Übersicht", "Verlauf", "Was sich geändert hat", "Beginn", "Farbschema"),
                *("Quelle", "Stunden abgehört", "Modelle", "Maschinendaten"),
            ],
        ),
        (
            "es-MX",
            "es",
            [
                *("Resumen", "Tendencia", "Qué ha cambiado", "Inicio", "Idioma", "Fuente"),
                *("Horas escuchadas", "Modelos", "Datos de la máquina"),
            ],
        ),
        (
            "ja-JP",
            "ja",
            [
                "一覧",
                "傾向",
                "変化の内容",
                "開始",
                "言語",
                "音源",
                "監視時間",
                "モデル",
                "機械データ",
            ],
        ),
    ],
)
def test_every_page_in_the_language_of_the_browser_on_a_phone(
    plant, open_page, locale, language, titles
):
    page = open_page(plant, locale=locale, **PHONE)
    for address, title in zip(addresses(plant), titles, strict=True):
        page.goto(f"{plant.address}#/{address}")
        expect(page.locator("html")).to_have_attribute("lang", language)
        words = page.get_by_text(title).or_(page.get_by_label(title))
        expect(words.first).to_be_attached()
        assert page.evaluate(OUTSIDE) == []
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        assert barriers(page) == []
        shot(page, f"{language}-{address.replace('/', '-')}-phone")


def test_a_language_is_chosen_at_once_and_kept(plant, open_page):
    page = open_page(plant, "#/settings")
    page.evaluate("window.isTheSame = true")
    choice = page.get_by_label("Language")
    expect(choice.locator("option")).to_have_text(["English", "Deutsch", "Español", "日本語"])
    choice.focus()
    choice.select_option("Deutsch")
    expect(page.get_by_role("heading", name="Einstellungen", level=1)).to_be_visible()
    expect(page.get_by_label("Sprache")).to_be_focused()
    expect(page.locator(".site-time .date").first).to_have_text(re.compile(r"^\d\d\.\d\d\.\d{4}$"))
    assert page.evaluate("window.isTheSame")  # not loaded again
    page.goto(f"{plant.address}#/machine/fan-roof")
    page.reload()
    expect(panel(page, "Grenzwerte").locator("dd").first).to_have_text(re.compile(r"^\d,\d\d$"))
    page.goto(f"{plant.address}#/settings")
    page.get_by_label("Sprache").select_option("English")
    expect(page.get_by_role("heading", name="Settings")).to_be_visible()


def test_texts_that_cannot_be_loaded_leave_the_page_as_it_is(plant, open_page):
    page = open_page(plant, "#/settings")
    page.watch.expect(r"es-.*\.js|Failed to load resource|dynamically imported")
    page.route(re.compile(r"/assets/es-[^/]*\.js"), lambda route: route.abort())
    choice = page.get_by_label("Language")
    choice.select_option("Español")
    expect(page.get_by_role("alert")).to_have_text("The texts of this language cannot be loaded.")
    expect(choice).to_have_value("en")


@pytest.fixture
def broken_plant(command, tmp_path):
    """A camera that cannot be reached beside a machine that is fine."""
    port = free_port()
    config = {
        "name": "Werk",
        "machines": [
            {
                "id": "camera",
                "name": "Kamera",
                "source": {"kind": "network", "url": f"http://127.0.0.1:{port}/sound"},
            },
            {"id": "fan", "name": "Lüfter", "source": {"kind": "simulated", "machine": "fan"}},
        ],
    }
    with ConfiguredService(command, tmp_path, config) as service:
        yield service


def test_what_the_service_says_is_in_the_language_of_the_page(broken_plant, open_page):
    page = open_page(broken_plant, "#/machine/camera", locale="de-DE")
    source = panel(page, "Quelle und Betrieb")
    expect(source).to_contain_text(re.compile(r"; neuer Versuch in \d+(,\d)? s"), timeout=30_000)
    expect(source).not_to_contain_text("retrying")
    shot(page, "german-source")

    broken_plant.change(name="Werk 2")
    page.goto(f"{broken_plant.address}#/settings")
    notes = page.get_by_label("Hinweise")
    expect(notes).to_contain_text("Konfiguration: name geändert", timeout=30_000)

    users = panel(page, "Benutzer")
    page.watch.expect("409")
    users.get_by_label("Name").fill("?!")
    users.get_by_label("Passwort").first.fill("correct horse battery")
    users.get_by_role("button", name="Administrator").click()
    expect(users.get_by_role("alert")).to_contain_text(
        "Benutzer '?!': ein Name hat Buchstaben, Ziffern und . _ @ -, höchstens 64 Zeichen"
    )
    shot(page, "german-settings")

    broken_plant.change(speed="fast")
    page.goto(f"{broken_plant.address}#/overview")
    problem = page.locator(".service-problems")
    expect(problem).to_contain_text(
        "Die Konfiguration hat einen Fehler, die vorige bleibt aktiv", timeout=30_000
    )
    expect(problem).to_contain_text("Einstellung speed: muss eine Zahl sein")
    shot(page, "german-overview")
