"""Outputs of kind mail, which earlier releases had."""

from __future__ import annotations

import email
import email.policy

from receivers import MailSink, an_event
from ssdpt.monitor.config import read_monitor_config
from ssdpt.monitor.messages import EventChanged
from ssdpt.monitor.outputs import create_output
from waiting import wait_until

PASSWORD = "a:b/c@d %20"


def read(tmp_path, sink, **more):
    settings = {"host": "127.0.0.1", "port": sink.port, "tls": "none", "sender": "s@example.org"}
    settings |= {"to": "[ann@example.org, bob@example.org]", "max_per_hour": 3, **more}
    lines = "".join(f"    {name}: {value}\n" for name, value in settings.items())
    (tmp_path / "monitor.yaml").write_text(f"outputs:\n  - kind: mail\n{lines}")
    return read_monitor_config(tmp_path / "monitor.yaml")


def test_mail_becomes_notify_with_the_same_settings(tmp_path):
    (tmp_path / "password").write_text(PASSWORD)
    with MailSink("ann@example.org", PASSWORD) as sink:
        config = read(tmp_path, sink, user="ann@example.org", password_file="password")
        (note,) = config.upgrades
        assert (
            note == "an output of kind 'mail' is one of kind 'notify' now, with the same settings"
        )
        (settings,) = config.outputs
        assert (settings.kind, settings.level, settings.max_per_hour) == ("notify", "alarm", 3)
        output = create_output(settings)
        assert output.name == f"notify E-Mail 127.0.0.1:{sink.port}"
        assert output.probe(5.0).count("signed in (nothing sent)") == 2
        output.start()
        output.publish(EventChanged(event=an_event(level="alert")))
        output.publish(EventChanged(event=an_event()))
        wait_until(lambda: len(sink.mails) == 2)
        output.close(2.0)
    assert sorted(to for (to,), _ in sink.mails) == ["ann@example.org", "bob@example.org"]
    mail = email.message_from_string(sink.mails[0][1], policy=email.policy.default)
    assert mail["From"] == "s@example.org"
    assert mail["Subject"] == "Alarm: pump-3: a bearing rattles"


def test_encryption_stays_as_it_is(tmp_path):
    with MailSink() as sink:
        for tls, begin, mode in (("starttls", "mailtos", "starttls"), ("tls", "mailtos", "ssl")):
            (url, _) = read(tmp_path, sink, tls=tls).outputs[0].urls
            assert url.startswith(f"{begin}://127.0.0.1:{sink.port}/?")
            assert f"mode={mode}" in url
