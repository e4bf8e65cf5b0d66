"""Notifications against real receivers: ntfy, Gotify, JSON and mail."""

from __future__ import annotations

import base64
import json
from urllib.parse import parse_qs, urlsplit

import pytest
from notifications import (
    FINDINGS,
    PNG,
    TIME,
    ended,
    heads,
    mail_url,
    mails,
    place,
    step,
    subjects,
    tell,
    text_of,
)
from sample_messages import acknowledgement, changed

from receivers import MailSink, WebReceiver, an_event
from ssdpt.monitor.messages import (
    Comment,
    Episode,
    EventChanged,
    ServiceStarted,
    ServiceStopped,
)
from ssdpt.monitor.outputs.context import MachineLabel, OutputContext
from waiting import wait_until

# --- What arrives ---------------------------------------------------------------------------------


def test_a_mail_names_machine_and_cause_and_carries_the_picture(notify):
    event = an_event(findings=FINDINGS, peak=12.345, threshold=4.0, audio_begin=TIME - 10)
    with MailSink() as sink:
        output = notify(
            mail_url(sink),
            context={
                "timezone": "Europe/Berlin",
                "public_url": "https://monitor.example/",
                "picture": lambda id: PNG if id == event.id else None,
            },
        )
        tell(output, event)
    (mail,) = mails(sink)
    assert mail["Subject"] == "Alarm: Pump 3: new tone at 130 Hz, 30 dB above normal"
    assert (mail["From"], mail["To"]) == ("ssdpt@example.org", "ann@example.org")
    assert mail["Auto-Submitted"] == "auto-generated"
    assert text_of(mail).splitlines() == [
        "Machine: Pump 3, Hall A",
        "Began: 14 Nov 2023, 23:13:20",
        "Highest score: 12.3 (threshold 4.00)",
        "What has changed against normal:",
        "- new tone at 130 Hz, 30 dB above normal",
        "- 6 dB louder than normal",
        f"https://monitor.example/#/event/{event.id}",
    ]
    (picture,) = mail.iter_attachments()
    assert (picture.get_filename(), picture.get_content_type()) == ("pump-3.png", "image/png")
    assert picture.get_content() == PNG


def test_the_same_mail_in_german(notify):
    event = an_event(findings=FINDINGS)
    with MailSink() as sink:
        output = notify(
            mail_url(sink),
            context={
                "language": "de",
                "timezone": "Europe/Berlin",
                "machines": {"pump-3": MachineLabel("Pumpe drüben")},
            },
        )
        tell(output, event)
        tell(output, ended(event))
    first, second = mails(sink)
    assert first["Subject"] == "Alarm: Pumpe drüben: neuer Ton bei 130 Hz, 30 dB über normal"
    assert second["Subject"] == "Vorbei: Pumpe drüben: neuer Ton bei 130 Hz, 30 dB über normal"
    assert text_of(second).splitlines() == [
        "Maschine: Pumpe drüben",
        "Beginn: 14.11.2023, 23:13:20",
        "Ende: 14.11.2023, 23:14:50",
        "Was sich gegenüber normal verändert hat:",
        "- neuer Ton bei 130 Hz, 30 dB über normal",
        "- 6 dB lauter als normal",
    ]


def test_ntfy_gets_title_text_and_picture_in_one_message(notify):
    event = an_event(findings=FINDINGS, audio_begin=TIME)
    with WebReceiver() as ntfy:
        output = notify(f"ntfy://{place(ntfy)}/plant", context={"picture": lambda id: PNG})
        tell(output, event)
        tell(output, ended(event, audio_begin=None))
    (_, headers, body, path), (_, _, over, _) = ntfy.posts
    asked = urlsplit(path)
    assert asked.path == "/plant"
    fields = {name: value for name, (value,) in parse_qs(asked.query).items()}
    assert fields["title"] == "Alarm: Pump 3: new tone at 130 Hz, 30 dB above normal"
    assert fields["message"].startswith("Machine: Pump 3, Hall A\nBegan: 14 Nov 2023, 22:13:20\n")
    assert (fields["filename"], body) == ("pump-3.png", PNG)
    assert "X-Icon" not in headers  # nothing is loaded from other servers
    content = json.loads(over)
    assert content["topic"] == "plant"
    assert content["title"] == "Over: Pump 3: new tone at 130 Hz, 30 dB above normal"


def test_gotify_and_json_get_the_same(notify):
    event = an_event(findings=FINDINGS, audio_begin=TIME)
    with WebReceiver() as gotify, WebReceiver() as plain:
        output = notify(
            f"gotify://{place(gotify)}/AbCdEf123",
            f"json://{place(plain)}/hook",
            context={"picture": lambda id: PNG},
        )
        tell(output, event)
    (_, headers, _, path) = gotify.posts[0]
    assert (path, headers["X-Gotify-Key"]) == ("/message", "AbCdEf123")
    title = "Alarm: Pump 3: new tone at 130 Hz, 30 dB above normal"
    assert gotify.taken[0]["title"] == plain.taken[0]["title"] == title
    assert gotify.taken[0]["message"] == plain.taken[0]["message"]
    assert plain.taken[0]["type"] == "failure"
    assert base64.b64decode(plain.taken[0]["attachments"][0]["base64"]) == PNG


def test_a_server_that_takes_no_files_gets_the_words(notify):
    with WebReceiver(413) as ntfy:
        output = notify(f"ntfy://{place(ntfy)}/plant", context={"picture": lambda id: PNG})
        tell(output, an_event(audio_begin=TIME))
    assert [code for code, *_ in ntfy.posts] == [413, 200]
    assert "attach" not in ntfy.taken[0]
    assert output.status.failed == 0


def test_names_and_sentences_cannot_write_headers(notify):
    machines = {"pump-3": MachineLabel("Pump\r\nBcc: eve@example.org")}
    with MailSink() as sink:
        output = notify(mail_url(sink), context={"machines": machines})
        tell(output, an_event(message="loud\nX-Extra: yes {0}"))
    (mail,) = mails(sink)
    assert (mail["Bcc"], mail["X-Extra"]) == (None, None)
    assert "Bcc: eve@example.org: loud X-Extra: yes {0}" in mail["Subject"]


def test_messages_use_the_names_of_now(notify):
    with MailSink() as sink:
        output = notify(mail_url(sink))
        output.update(OutputContext({"pump-3": MachineLabel("Coolant pump")}))  # the fans are gone
        tell(output, an_event("pump-3"))
        tell(output, an_event("fan-1"))
        tell(output, an_event("unnamed"))
    assert [subject.split(": ")[1] for subject in subjects(sink)] == [
        *("Coolant pump", "Fan 1", "unnamed"),
    ]


# --- Which events, and when -----------------------------------------------------------------------


def test_only_beginning_and_end_are_told(notify):
    event = an_event()
    acknowledged = changed(event, acknowledged=acknowledgement())
    over = ended(acknowledged)
    labelled = changed(over, comments=(Comment(who="ann", at=TIME, text="a screw"),), label="fault")
    with MailSink() as sink:
        output = notify(mail_url(sink))
        for state in (event, event, acknowledged, over, over, labelled):
            tell(output, state)
    assert heads(sink) == ["Alarm", "Over"]


@pytest.mark.parametrize(("level", "count"), [("alarm", 1), ("alert", 2)])
def test_events_below_the_wanted_level_are_not_told(notify, level, count):
    with MailSink() as sink:
        output = notify(mail_url(sink), level=level)
        tell(output, an_event("fan-1", level="alert"))
        tell(output, an_event())
    assert len(sink.mails) == count


def test_an_event_that_comes_and_goes_is_told_once_and_again_when_it_gets_worse(notify):
    event = an_event(level="alert")
    episodes = tuple(Episode(began=TIME + n, level="alert") for n in range(3))
    with MailSink() as sink:
        output = notify(mail_url(sink))
        for _ in range(3):
            tell(output, event)
            tell(output, ended(event, may_continue=True))
        worse = changed(event, level="alarm", episodes=episodes)
        for state in (worse, ended(worse, may_continue=True), worse, ended(worse)):
            tell(output, state)
    assert heads(sink) == ["Alert", "Alarm", "Over"]
    assert "Came and went: 3 times" in text_of(mails(sink)[-1])


def test_a_comment_to_an_event_of_last_week_is_no_news_but_its_end_is(notify):
    acknowledged_event = an_event(acknowledged=acknowledgement())
    with MailSink() as sink:
        output = notify(mail_url(sink))
        tell(output, acknowledged_event)
        tell(output, ended(an_event(label="fault")))
        tell(output, ended(acknowledged_event))
    assert heads(sink) == ["Over"]


def test_only_the_machines_of_a_group(notify):
    with MailSink() as sink:
        output = notify(mail_url(sink), groups=("pumps",))
        tell(output, an_event("fan-1"), an_event("pump-3"), an_event("stranger"))
    assert [subject.split(": ")[1] for subject in subjects(sink)] == ["Pump 3"]


def test_the_picture_is_waited_for_but_not_for_long(notify, clock):
    event = an_event(level="alarm")
    pictured = changed(event, audio_begin=TIME, findings=FINDINGS)
    with MailSink() as sink:
        output = notify(
            mail_url(sink),
            wait_for_picture=30.0,
            context={"has_pictures": True, "picture": lambda id: PNG},
        )
        tell(output, event)
        clock.now += 12
        step(output)
        assert sink.mails == []
        tell(output, pictured)
        (mail,) = mails(sink)
        assert "new tone at 130 Hz" in mail["Subject"]
        assert len(list(mail.iter_attachments())) == 1
        tell(output, an_event("fan-1"))
        clock.now += 30
        step(output)
        assert list(mails(sink)[1].iter_attachments()) == []


def test_what_came_in_quiet_hours_is_told_when_they_end(notify, clock):
    night = {"quiet_hours": [{"days": ["tue"], "from": "22:00", "to": "06:00"}]}
    over = an_event("fan-1", began=TIME)
    with MailSink() as sink, WebReceiver() as urgent:
        output = notify(mail_url(sink), **night)
        passing = notify(f"json://{place(urgent)}/", alarms_pass=True, **night)
        for event in (an_event(began=TIME), over, an_event("fan-2", level="alert", began=TIME)):
            tell(output, event)
            tell(passing, event)
        tell(output, ended(over))
        assert sink.mails == []
        assert len(urgent.taken) == 2
        clock.now = TIME + 8 * 3600
        step(output)
        step(passing)
    (mail,) = mails(sink)
    assert mail["Subject"] == "After quiet hours: 1 alarm, 1 alert, 1 over: Pump 3, Fan 2, Fan 1"
    assert urgent.taken[-1]["title"] == "After quiet hours: Alert: Fan 2: a bearing rattles"


def test_a_restart_forgets_neither_quiet_hours_nor_reminders(notify, clock):
    """What came in the night is known from the store."""
    told = an_event("fan-1", began=TIME - 3600)
    night = an_event(began=TIME - 600)
    with MailSink() as sink:
        output = notify(
            mail_url(sink),
            quiet_hours=[{"from": "22:00", "to": "06:00"}],
            remind_after=600,
        )
        output.resume([told, night])
        step(output)
        assert sink.mails == []
        clock.now = TIME + 8 * 3600
        step(output)
        assert subjects(sink) == ["After quiet hours: Alarm: Pump 3: a bearing rattles"]
        clock.now = TIME + 9 * 3600 + 1
        step(output)
        assert subjects(sink)[1] == "Reminder: Fan 1: a bearing rattles"


def test_closing_does_not_keep_a_summary_back(notify, clock):
    with MailSink() as sink:
        output = notify(mail_url(sink), group_within=60.0)
        output.publish(EventChanged(event=an_event("fan-1")))
        output._thread.start()
        wait_until(lambda: len(output._digest) == 1)
        output.close(60)
        assert subjects(sink) == ["Alarm: Fan 1: a bearing rattles"]
        assert output.status.queued == 0


def test_the_service_says_when_it_stops_and_starts_again(notify):
    with MailSink() as sink:
        output = notify(mail_url(sink))
        silent = notify(mail_url(sink), service=False)
        for message in (
            ServiceStopped(at=TIME),
            ServiceStarted(at=TIME + 720, last_alive=TIME, orderly=True),
            ServiceStarted(at=TIME + 12, last_alive=TIME, orderly=True),
            ServiceStarted(at=TIME + 4 * 86400, last_alive=TIME, orderly=False),
        ):
            for one in (output, silent):
                one.publish(message)
                step(one)
    assert subjects(sink) == [
        "Monitoring stopped: Works",
        "Monitoring restarted: Works: 12 minutes without monitoring",
        "Monitoring restarted: Works: 12 seconds without monitoring",
        "Monitoring restarted: Works: 4 days without monitoring",
    ]
    assert "a crash or a power cut" in text_of(mails(sink)[3])
