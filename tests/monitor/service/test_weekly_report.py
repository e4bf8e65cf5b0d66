"""The weekly report: what is counted, when it is sent, and what it says."""

from __future__ import annotations

import pytest

from plant_history import DAY, ZONE, event, event_id, fill_hours, fill_plant
from ssdpt.alarms.outlook import Outlook
from ssdpt.alarms.source_health import LOST
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import MonitorConfig, ReportSettings
from ssdpt.monitor.events.descriptions import DRIFT, anomaly
from ssdpt.monitor.messages import WeeklyReport
from ssdpt.monitor.report import pdf
from ssdpt.monitor.report.pdf import report_pdf
from ssdpt.monitor.report.wording import report_text
from ssdpt.monitor.service.reports import Reports, due_week
from ssdpt.monitor.service.weekly_report import ReportedMachine, weekly_report
from ssdpt.monitor.store import Store
from ssdpt.monitor.week import Week

WEEK = Week.parse("2026-W46")
NOW = WEEK.end(ZONE) + 8 * 3600  # Monday at eight
FAN, PUMP = ReportedMachine("fan-1", "Roof fan", "Hall A"), ReportedMachine("pump-1", "Pump")


@pytest.fixture
def store(tmp_path):
    with Store.open(f"sqlite:///{tmp_path}/ssdpt.db", tmp_path) as opened:
        yield opened


@pytest.fixture
def plant(store):
    fill_plant(store, NOW)
    return store


def report_of(store, week=WEEK, machines=(FAN, PUMP), now=NOW, zone=ZONE, language="en"):
    return weekly_report(
        store, week, machines, plant="Mill", timezone=zone, language=language, now=now
    )


def machine(report, id):
    return next(one for one in report.machines if one.machine == id)


def test_what_happened_in_a_week(plant):
    report = report_of(plant)
    assert (report.week, report.is_over) == ("2026-W46", True)
    assert [one.id for one in report.events] == [event_id(n) for n in (3, 4, 5)]
    fan, pump = machine(report, "fan-1"), machine(report, "pump-1")
    assert (fan.events, fan.alarms, fan.unacknowledged, fan.false_alerts) == (1, 0, 1, 0)
    assert (pump.events, pump.alarms, pump.unacknowledged, pump.false_alerts) == (2, 1, 1, 1)
    assert (fan.listened_hours, fan.lost_hours) == (168.0, 0.0)
    assert (pump.listened_hours, pump.lost_hours) == (144.0, 24.0)
    assert [one.code for one in fan.worse] == ["score", "alerts", "level"]
    assert (fan.worse[0].now, fan.worse[2].now - fan.worse[2].before) == (1.6, 4.0)
    assert pump.worse == ()
    assert [note.text for note in report.notes] == ["bearing changed"]


def test_a_week_that_is_not_over_counts_until_now(plant):
    report = report_of(plant, WEEK.shifted(1))
    assert (report.until, report.is_over) == (NOW, False)
    assert machine(report, "fan-1").listened_hours == 8.0
    assert machine(report, "fan-1").lost_hours == 0.0


@pytest.mark.parametrize("week", ["2026-W20", "2030-W01"])
def test_an_empty_week_has_nothing_lost_and_nothing_worse(plant, week):
    """Before the first sound, and in the future."""
    report = report_of(plant, Week.parse(week))
    assert (report.events, report.notes) == ((), ())
    for one in report.machines:
        assert (one.listened_hours, one.worse, one.enough_history) == (0.0, (), False)
    assert "There are not enough weeks yet to compare with." in report_text(report).plain()
    assert report_pdf(report).startswith(b"%PDF-")


@pytest.mark.parametrize(("name", "hours"), [("2026-W13", 167), ("2026-W43", 169)])
def test_hours_across_a_change_of_clocks(store, name, hours):
    week = Week.parse(name)
    begin, end = week.begin(ZONE), week.end(ZONE)
    fill_hours(store, "fan-1", begin - 7 * DAY, end + 7 * DAY)
    fan = machine(report_of(store, week, [FAN], end), "fan-1")
    assert (fan.listened_hours, fan.lost_hours) == (hours, 0.0)


def test_a_machine_is_lost_only_since_it_was_first_heard(store):
    fill_hours(store, "fan-1", WEEK.end(ZONE) - 10 * 3600, WEEK.end(ZONE) - 4 * 3600)
    fan = machine(report_of(store, machines=[FAN]), "fan-1")
    assert (fan.listened_hours, fan.lost_hours) == (6.0, 4.0)


def test_snapshots_are_counted_and_pauses_of_recordings_are_nothing_lost(store):
    fill_hours(store, "fan-1", WEEK.begin(ZONE), WEEK.begin(ZONE) + 3600)
    fill_hours(store, "pump-1", WEEK.begin(ZONE), WEEK.begin(ZONE) + 3600)
    machines = (
        ReportedMachine("fan-1", "Fan", snapshots=True),
        ReportedMachine("pump-1", "Pump", has_pauses=True),
    )
    fan, pump = report_of(store, machines=machines).machines
    assert (fan.measurements, fan.listened_hours, fan.lost_hours) == (3600, None, None)
    assert (pump.measurements, pump.listened_hours, pump.lost_hours) == (None, 1.0, None)


STREAM, SNAPSHOTS = (
    {"listened_hours": 160.0, "lost_hours": 8.0, "measurements": None},
    {"listened_hours": None, "lost_hours": None, "measurements": 12_345},
)


@pytest.mark.parametrize(
    ("language", "heads", "measurements"),
    [
        ("en", ("Hours listened", "Hours without sound", "Measurements"), "12,345"),
        ("de", ("Stunden abgehört", "Stunden ohne Ton", "Messungen"), "12.345"),
        ("es", ("Horas escuchadas", "Horas sin sonido", "Mediciones"), "12.345"),
        ("ja", ("監視時間", "音なしの時間", "測定回数"), "12,345"),
    ],
)
def test_hours_and_measurements_each_have_their_column(store, language, heads, measurements):
    """A machine of snapshots has no hours, and one that is listened to no measurements."""
    report = report_of(store, machines=[FAN, PUMP]).model_copy(update={"language": language})
    machines = [
        one.model_copy(update=kind)
        for one, kind in zip(report.machines, (STREAM, SNAPSHOTS), strict=True)
    ]

    def machine_table(*machines):
        text = report_text(report.model_copy(update={"machines": machines}))
        return text, text.sections[-1].content

    text, table = machine_table(*machines)
    assert table.heads[4:] == heads
    hours = ["160.0", "8.0"] if language in ("en", "ja") else ["160,0", "8,0"]
    assert [row[4:] for row in table.rows] == [(*hours, "–"), ("–", "–", measurements)]
    assert len(table.widths) == len(table.heads)
    stream, snapshots = text.plain().rstrip().splitlines()[-2:]
    assert heads[0] in stream
    assert heads[2] not in stream
    assert f"{heads[2]}: {measurements}" in snapshots
    assert heads[0] not in snapshots
    assert "–" not in snapshots
    text, table = machine_table(machines[0])
    assert table.heads[4:] == heads[:2]
    assert heads[2] not in text.plain()
    text, table = machine_table(machines[1])
    assert table.heads[4:] == heads[2:]
    assert [name for name, _ in text.summary][-1] == heads[2]
    assert len(text.summary) == 4  # nothing about listening


def test_bands_that_grow_are_named(store):
    for number in range(5):
        begin, end = (WEEK.shifted(number - 4 + n).begin(ZONE) for n in (0, 1))
        fill_hours(store, "fan-1", begin, end, band=-50.0 if number < 4 else -44.5)
    fan = ReportedMachine("fan-1", "Fan", band_edges_hz=(30.0, 150.0))
    (worse,) = machine(report_of(store, machines=[fan]), "fan-1").worse
    assert (worse.code, worse.low_hz, worse.high_hz) == ("band", 30.0, 150.0)
    assert worse.now - worse.before == 5.5


def test_removed_machines_with_events_are_in_the_report(plant):
    report = report_of(plant, machines=[FAN])
    assert machine(report, "pump-1").name == "pump-1"


def test_more_events_than_a_report_lists(store):
    for number in range(503):
        store.save_event(event(number, WEEK.begin(ZONE) + number))
    report = report_of(store, machines=[FAN])
    assert (len(report.events), report.events_left_out) == (500, 3)
    assert machine(report, "fan-1").events == 503
    assert "and 3 more" in report_text(report).plain()


def test_the_outlook_is_that_of_the_present_week_and_the_one_before(plant):
    fan = ReportedMachine("fan-1", "Fan", outlook=Outlook(earliest=NOW, latest=NOW + DAY))
    known = [
        machine(report_of(plant, WEEK.shifted(n), [fan]), "fan-1").outlook is not None
        for n in (-1, 0, 1)
    ]
    assert known == [False, True, True]


# --- What it says ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("language", "sentences"),
    [
        ("en", ["Weekly report: Mill, 2026-W46", "looks like: loose belt", "312.0 h; 93 %"]),
        ("de", ["Wochenbericht: Mill", "sieht aus wie: loose belt", "312,0 h; 93 %"]),
        ("es", ["Informe semanal: Mill", "parece: loose belt", "Máquinas que empeoran"]),
        ("ja", ["週間レポート：Mill", "類似：loose belt", "悪化している機械"]),
    ],
)
def test_the_report_in_each_language(plant, language, sentences):
    text = report_text(report_of(plant, language=language)).plain()
    for sentence in sentences:
        assert sentence in text


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("de", ["Von der Quelle kommt kein Ton", "hat sich langsam verändert", "Geräusch, 6 dB"]),
        ("es", ["No llega sonido de la fuente", "ha cambiado lentamente", "Sonido inusual, 6 dB"]),
        ("ja", ["音源から音が届きません", "正常音がゆっくり変化しました", "異常音、普段より 6 dB"]),
    ],
)
def test_events_without_findings_are_in_the_language_of_the_report(store, language, said):
    """No sound, a slow change and a sound in which nothing was found."""
    messages = {"signal": LOST, "drift": DRIFT, "anomaly": anomaly("", 6.0)}
    for number, (kind, message) in enumerate(messages.items()):
        began = WEEK.begin(ZONE) + (number + 1) * DAY
        store.save_event(event(number, began, kind=kind, message=message, findings=()))
    text = report_text(report_of(store, language=language)).plain()
    for sentence in said:
        assert sentence in text
    assert not [message for message in messages.values() if message in text]


@pytest.mark.parametrize(
    "language", ["en", "de", "es", pytest.param("ja", marks=pytest.mark.needs_japanese_font)]
)
def test_the_file_carries_the_letters_of_its_language(plant, language):
    content = report_pdf(report_of(plant, language=language))
    assert content.startswith(b"%PDF-")
    assert len(content) > 10_000  # with its letters


def test_japanese_without_a_font_is_said(plant, monkeypatch):
    monkeypatch.setattr(pdf, "japanese_font", lambda: None)
    with pytest.raises(SsdptError, match=r"needs a font with Japanese letters.*fonts-noto-cjk"):
        report_pdf(report_of(plant, language="ja"))


def test_without_any_font_letters_of_western_europe_are_printed(plant, monkeypatch):
    monkeypatch.setattr(pdf, "japanese_font", lambda: None)
    monkeypatch.setattr(pdf, "latin_font", lambda: None)
    plant.set_details(event_id(4), "ann", NOW, {"cause": "Ölmangel 日本 ☃"})
    assert report_pdf(report_of(plant, language="de")).startswith(b"%PDF-")


def test_a_long_report_has_several_pages(store):
    for number in range(200):
        store.save_event(event(number, WEEK.begin(ZONE) + number, cause="a cause " * 20))
    assert report_pdf(report_of(store, machines=[FAN])).count(b"/Type /Page\n") > 5


# --- When it is sent ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "last", "at", "week"),
    [
        ({}, "", NOW, "2026-W46"),
        ({}, "2026-W46", NOW, None),
        ({}, "2026-W45", NOW - 1.5 * 3600, None),  # half past six
        ({}, "2026-W45", NOW + 3 * DAY, "2026-W46"),  # the service did not run on Monday
        ({"day": "fri", "time": "16:30"}, "2026-W45", NOW, None),
        ({"day": "fri", "time": "16:30"}, "2026-W45", NOW + 4.4 * DAY, "2026-W46"),
        ({}, "2027-W01", NOW, None),  # the clock was wrong before
    ],
)
def test_when_a_report_is_due(settings, last, at, week):
    due = due_week(ReportSettings(**settings), last, at, ZONE)
    assert (None if due is None else str(due)) == week


def test_monday_at_seven_on_the_clocks_of_the_plant():
    """An hour earlier in UTC after clocks went forward, and not at all an hour before."""
    week = Week.parse("2026-W13")
    seven = week.end(ZONE) + 7 * 3600
    assert due_week(ReportSettings(), "2026-W12", seven - 1, ZONE) is None
    assert due_week(ReportSettings(), "2026-W12", seven, ZONE) == week


class _Publisher:
    def __init__(self):
        self.messages = []

    def publish(self, message):
        self.messages.append(message)


def reports(store, publisher, now, **config):
    settings = MonitorConfig(name="Mill", timezone=ZONE, report={}, **config)
    return Reports(store, publisher, lambda: settings, list, lambda: now)


def test_a_report_is_sent_once_even_across_restarts(plant, tmp_path):
    publisher = _Publisher()
    for now in (NOW - 2 * 3600, NOW, NOW + 60):
        reports(plant, publisher, now).send_due()
    with Store.open(f"sqlite:///{tmp_path}/ssdpt.db", tmp_path) as again:
        reports(again, publisher, NOW + 3600).send_due()
    sent = [(type(one), one.week) for one in publisher.messages]
    assert sent == [(WeeklyReport, "2026-W46")]
    plant.save_event(event(9, NOW + DAY))
    reports(plant, publisher, NOW + 7 * DAY).send_due()
    assert [one.week for one in publisher.messages] == ["2026-W46", "2026-W47"]


def test_nothing_is_sent_of_a_week_without_monitoring_or_without_a_time(plant, store):
    publisher = _Publisher()
    reports(store, publisher, NOW - 90 * DAY).send_due()
    settings = MonitorConfig(timezone=ZONE)
    Reports(plant, publisher, lambda: settings, list, lambda: NOW).send_due()
    assert publisher.messages == []
