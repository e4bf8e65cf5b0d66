"""The weekly report by mail, as a mail server receives it."""

from __future__ import annotations

import email
import email.policy

import pytest

from plant_history import ZONE, fill_plant
from receivers import MailSink
from ssdpt.monitor.outputs.notify_output import NotifyOutput, NotifySettings
from ssdpt.monitor.report import pdf
from ssdpt.monitor.service.weekly_report import ReportedMachine, weekly_report
from ssdpt.monitor.store import Store
from ssdpt.monitor.week import Week
from waiting import wait_until

WEEK = Week.parse("2026-W46")
MACHINES = (ReportedMachine("fan-1", "Roof fan"), ReportedMachine("pump-1", "Kühlpumpe"))


@pytest.fixture
def mailed(tmp_path):
    """Sends the report in a language; gives the mail."""

    def send(language, **settings):
        now = WEEK.end(ZONE) + 8 * 3600
        with Store.open(f"sqlite:///{tmp_path}/ssdpt.db", tmp_path) as store:
            fill_plant(store, now)
            report = weekly_report(
                store, WEEK, MACHINES, plant="Mühle", timezone=ZONE, language=language, now=now
            )
        with MailSink() as sink:
            url = f"mailto://127.0.0.1:{sink.port}/?from=ssdpt@example.org&to=ann@example.org"
            output = NotifyOutput(NotifySettings(urls=(url,), **settings))
            output.start()
            output.publish(report)
            wait_until(lambda: sink.mails or not settings.get("report", True))
            output.close()
            return [
                email.message_from_string(text, policy=email.policy.default)
                for _, text in sink.mails
            ]

    return send


def test_the_report_arrives_with_its_pdf_file(mailed):
    (mail,) = mailed("de")
    assert mail["Subject"] == "Wochenbericht: Mühle, 2026-W46"
    text = mail.get_body().get_content()
    assert "Abgehört: 312,0 h; 93 % der Zeit, 24,0 h ohne Ton" in text
    assert "Kühlpumpe" in text
    assert "Ursache: dry bearing" in text
    assert "neuer Ton bei 2,6 kHz" in text
    (file,) = mail.iter_attachments()
    assert (file.get_filename(), file.get_content_type()) == (
        "report-2026-W46.pdf",
        "application/pdf",
    )
    assert file.get_content().startswith(b"%PDF-")


def test_without_a_font_the_text_arrives_and_says_why_there_is_no_file(mailed, monkeypatch):
    monkeypatch.setattr(pdf, "japanese_font", lambda: None)
    (mail,) = mailed("ja")
    assert mail["Subject"] == "週間レポート：Mühle、2026-W46"
    assert "needs a font with Japanese letters" in mail.get_body().get_content()
    assert not list(mail.iter_attachments())


def test_an_output_may_leave_the_report_to_others(mailed):
    assert mailed("en", report=False) == []
