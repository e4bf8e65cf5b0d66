"""Reminders of alarms that nobody has acknowledged."""

from __future__ import annotations

from notifications import TIME, ended, heads, mail_url, mails, step, subjects, tell, text_of
from sample_messages import acknowledgement, changed

from receivers import MailSink, an_event

SIX = TIME - TIME % 86400 + 30 * 3600  # in the morning after TIME, UTC


def test_people_are_reminded_until_someone_acknowledges(notify, clock):
    event = an_event(began=TIME)
    with MailSink() as sink:
        output = notify(mail_url(sink), remind_after=30)
        tell(output, event, an_event("fan-1", level="alert"))
        for _ in range(2):
            clock.now += 29 * 60
            step(output)
            clock.now += 60
            step(output)
        assert heads(sink)[1:] == ["Reminder", "Reminder"]
        assert "Active and unacknowledged for 60 minutes." in text_of(mails(sink)[-1])
        tell(output, changed(event, acknowledged=acknowledgement()))
        clock.now += 3600
        step(output)
        assert len(sink.mails) == 3


def test_a_fault_that_comes_and_goes_is_not_forgotten(notify, clock):
    """Of an alarm that pauses for a moment, people are reminded while it sounds."""
    event = an_event(began=TIME)
    with MailSink() as sink:
        output = notify(mail_url(sink), remind_after=30)
        tell(output, event)
        clock.now += 20 * 60
        tell(output, ended(event, may_continue=True))
        clock.now += 20 * 60
        step(output)
        assert len(sink.mails) == 1  # it is quiet at the moment
        tell(output, changed(event, ended=None))
        assert heads(sink)[1:] == ["Reminder"]
        tell(output, over := ended(event, may_continue=True))
        clock.now += 60 * 60
        tell(output, changed(over, may_continue=False))
        clock.now += 60 * 60
        step(output)
        assert heads(sink)[2:] == ["Over", "Reminder"]


def test_an_alarm_that_ended_by_itself_is_reminded_of_once(notify, clock):
    event = an_event(began=TIME)
    with MailSink() as sink:
        output = notify(mail_url(sink), remind_after=30)
        tell(output, event)
        clock.now += 29 * 60
        tell(output, over := ended(event))
        clock.now += 29 * 60
        step(output)
        assert heads(sink) == ["Alarm", "Over"]
        clock.now += 60
        step(output)
        assert heads(sink)[2:] == ["Reminder"]
        mail = mails(sink)[-1]
        assert text_of(mail).startswith("Ended by itself; nobody has acknowledged it.")
        assert "Ended: " in text_of(mail)
        clock.now += 86400
        tell(output, changed(over, cause="dry bearing"))
        assert len(sink.mails) == 3


def test_an_alarm_of_the_night_is_reminded_of_after_quiet_hours(notify, clock):
    """It began and ended in them: only that it is over was said, once they were."""
    event = an_event(began=TIME)
    quiet = [{"from": "22:00", "to": "06:00"}]
    with MailSink() as sink:
        output = notify(mail_url(sink), remind_after=30, quiet_hours=quiet)
        tell(output, event)
        clock.now += 60 * 60
        tell(output, ended(event))
        clock.now = SIX - 1
        step(output)
        assert sink.mails == []
        clock.now = SIX
        step(output)
        assert subjects(sink) == ["After quiet hours: Over: Pump 3: a bearing rattles"]
        clock.now += 30 * 60
        step(output)
        assert heads(sink)[1:] == ["Reminder"]


def test_nobody_is_woken_by_an_alarm_that_is_over(notify, clock):
    event = an_event(began=TIME)
    quiet = [{"from": "22:30", "to": "06:00"}]
    with MailSink() as sink:
        output = notify(mail_url(sink), remind_after=30, quiet_hours=quiet, alarms_pass=True)
        tell(output, event, ended(event))  # 22:13
        clock.now += 60 * 60
        step(output)
        assert heads(sink) == ["Over"]
        clock.now = SIX
        step(output)
        assert "After quiet hours: Reminder: Pump 3" in mails(sink)[-1]["Subject"]


def test_an_acknowledged_alarm_that_is_over_is_not_reminded_of(notify, clock):
    event = an_event(began=TIME)
    with MailSink() as sink:
        output = notify(mail_url(sink), remind_after=30)
        tell(output, event, over := ended(event))
        tell(output, changed(over, acknowledged=acknowledgement()))
        clock.now += 86400
        step(output)
        assert heads(sink) == ["Over"]


def test_after_a_restart_only_a_reminder_that_is_still_to_come_is_sent(notify, clock):
    quiet = [{"from": "22:00", "to": "06:00"}]
    night = ended(an_event("fan-1", began=TIME))
    old = ended(an_event("fan-2", began=TIME - 86400))
    with MailSink() as sink:
        output = notify(mail_url(sink), remind_after=30, quiet_hours=quiet)
        clock.now = SIX + 60
        output.resume([old, night])
        step(output)
        clock.now = SIX + 30 * 60
        step(output)
        clock.now += 86400
        step(output)
        assert subjects(sink) == ["Reminder: Fan 1: a bearing rattles"]
