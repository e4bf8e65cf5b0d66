"""Notifications that do not arrive at once, and addresses with secrets in them."""

from __future__ import annotations

import json
import logging
import socket

import pytest
from notifications import PASSWORD, TIME, mail_url, place, subjects, tell

from receivers import MailSink, WebReceiver, an_event, certificate
from ssdpt.errors import SsdptError
from ssdpt.monitor.messages import (
    EventChanged,
)
from ssdpt.monitor.outputs.base import TryAgain
from ssdpt.monitor.outputs.notify_output import NotifyOutput, NotifySettings
from waiting import wait_until

# --- Receivers that fail --------------------------------------------------------------------------


def test_a_mail_that_is_put_off_comes_later_and_in_order(notify):
    with MailSink(data=["451 later", "451 later"]) as sink:
        output = notify(mail_url(sink))
        for number in range(3):
            tell(output, an_event(f"fan-{number}"))
    assert [subject.split(": ")[1] for subject in subjects(sink)] == ["Fan 0", "Fan 1", "Fan 2"]
    assert output.status.failed == 0


def test_a_mail_that_is_refused_is_given_up(notify):
    with MailSink(data=["554 no"]) as sink:
        output = notify(mail_url(sink))
        tell(output, an_event("fan-1"))
        assert output.status.message.endswith("rejects the mail (554)")
        tell(output, an_event("fan-2"))
    assert [subject.split(": ")[1] for subject in subjects(sink)] == ["Fan 2"]
    assert (output.status.failed, output.status.sent) == (1, 1)


def test_an_address_that_is_put_off_gets_its_mail_later_and_the_other_none_twice(notify):
    with MailSink(rcpt=["450 busy", "450 busy", None]) as sink:
        output = notify(mail_url(sink), mail_url(sink, "bob@example.org"))
        tell(output, an_event())
    assert sorted(to for (to,), _ in sink.mails) == ["ann@example.org", "bob@example.org"]


def test_a_service_that_hangs_keeps_nothing_from_the_others(notify):
    """Nothing is lost: what waits for it arrives when it answers again."""
    with socket.create_server(("127.0.0.1", 0)) as deaf, WebReceiver() as well:
        hanging = f"json://127.0.0.1:{deaf.getsockname()[1]}/s3cr3t"
        output = notify(hanging, f"json://{place(well)}/", limit=0.05)
        for number in range(3):
            output.publish(EventChanged(event=an_event(f"fan-{number}")))
            output.process()
        wait_until(lambda: len(well.taken) == 3)
        wait_until(lambda: "no answer within" in output.status.message)
        assert not output.status.healthy
        assert output.status.queued == 3
        assert "s3cr3t" not in output.name + output.status.message
        with pytest.raises(TryAgain, match=r"no answer within 0.1 s; JSON .*: accepted"):
            output.test(0.1)


def test_a_wrong_password_is_reported_without_it(notify, tmp_path, caplog):
    """Not even where the server repeats it."""
    (tmp_path / "password").write_text("Tr0ub4dor")
    caplog.set_level(logging.DEBUG)
    with MailSink("ann", PASSWORD) as sink:
        url = (
            f"mailto://ann:{{password}}@127.0.0.1:{sink.port}/?from=a@example.org&to=b@example.org"
        )
        output = notify(url, password_file=tmp_path / "password")
        output.publish(EventChanged(event=an_event()))
        output.process()
        wait_until(lambda: "rejects user or password (535)" in output.status.message)
        with pytest.raises(TryAgain, match=r"rejects user or password \(535\)"):
            output.probe(5.0)
        (tmp_path / "password").write_text(PASSWORD)
        assert notify(url, password_file=tmp_path / "password").probe(5.0) == (
            "signed in (nothing sent)"
        )
        assert "accepted" in notify(url, password_file=tmp_path / "password").test(5.0)
    shown = caplog.text + output.status.message + output.name + repr(output._settings)
    assert not [secret for secret in ("Tr0ub4dor", "horse") if secret in shown]
    assert subjects(sink) == ["Test: Works"]


def test_a_wrong_token_is_reported(notify):
    with WebReceiver(*[401] * 1000) as gotify:
        output = notify(f"gotify://{place(gotify)}/AbCdEf123")
        output.publish(EventChanged(event=an_event()))
        output.process()
        wait_until(lambda: "rejects the password or token (401)" in output.status.message)
    assert "AbCdEf123" not in output.status.message


def test_ntfy_says_with_numbers_of_its_own_what_is_wrong(notify):
    reply = json.dumps({"code": 40301, "http": 403, "error": "forbidden"}).encode()
    with WebReceiver(*[403] * 1000, answer=reply) as ntfy:
        output = notify(f"ntfy://{place(ntfy)}/s3cr3t")
        with pytest.raises(TryAgain, match=r"rejects the password or token \(403\)"):
            output.test(5.0)


def test_news_that_cannot_be_worded_keep_none_from_the_next(notify):
    def broken(event):
        raise ValueError("s3cr3t")

    with MailSink() as sink:
        output = notify(mail_url(sink), context={"picture": broken})
        tell(output, an_event("fan-1", audio_begin=TIME))
        assert output.status.failed == 1
        assert output.status.message == "the message could not be created (ValueError)"
        tell(output, an_event("fan-2"))
    assert subjects(sink) == ["Alarm: Fan 2: a bearing rattles"]


@pytest.mark.full  # needs the command openssl
def test_a_password_goes_only_through_an_encrypted_line(notify, tmp_path, monkeypatch):
    (tmp_path / "password").write_text(PASSWORD + "\n")
    pair = certificate(tmp_path)

    def secured(sink):
        address = f"mailtos://ann:{{password}}@127.0.0.1:{sink.port}/?from=a@b.org&to=c@d.org"
        return notify(f"{address}&mode=starttls", password_file=tmp_path / "password")

    with MailSink("ann", PASSWORD, pair) as sink:
        with pytest.raises(TryAgain, match="certificate is not trusted"):
            secured(sink).test(5.0)
        monkeypatch.setenv("SSL_CERT_FILE", str(pair[1]))
        assert secured(sink).test(5.0) == "accepted"
        assert sink.secured == [True]
    with MailSink("ann", PASSWORD) as plain:  # somebody in between has taken STARTTLS away
        with pytest.raises(TryAgain, match="does not support STARTTLS"):
            secured(plain).test(5.0)
        assert plain.mails == []


# --- Settings -------------------------------------------------------------------------------------


def test_addresses_can_lie_in_a_file(tmp_path, notify):
    with WebReceiver() as receiver:
        path = tmp_path / "addresses"
        path.write_text(f"# the night shift\n\njson://{place(receiver)}/s3cr3t\n")
        output = NotifyOutput(NotifySettings(urls_file=path))
        assert output.name == f"notify JSON {place(receiver)}"
        assert output.probe(5.0) == "reachable (nothing sent)"
        assert receiver.posts == []


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("tgram://123456789:abcdefg_hijklmnop/12315544/", "notify Telegram"),
        ("ntfy://my-secret-topic", "notify ntfy"),
        ("ntfys://ntfy.example/my-secret-topic", "notify ntfy ntfy.example:443"),
        (
            "mailtos://ann:pw@example.org?smtp=mail.example.org",
            "notify E-Mail mail.example.org:587",
        ),
    ],
)
def test_the_name_holds_no_secret(url, name):
    assert NotifyOutput(NotifySettings(urls=(url,))).name == name


def test_bad_addresses_are_named_without_what_they_hold(tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    for url, shown in (("nosuch://s3cr3t/x", "nosuch://…"), ("s3cr3t", "without scheme")):
        with pytest.raises(SsdptError) as caught:
            NotifyOutput(NotifySettings(urls=(url,)))
        assert shown in str(caught.value)
        assert "s3cr3t" not in str(caught.value) + caplog.text
    with pytest.raises(SsdptError, match=r"set password_file and write {password}"):
        NotifyOutput(NotifySettings(urls=("json://host.example/{password}",)))
    with pytest.raises(ValueError, match="set urls, or urls_file"):
        NotifySettings()
    (tmp_path / "empty").write_text("# none\n")
    with pytest.raises(SsdptError, match="write one address per line"):
        NotifyOutput(NotifySettings(urls_file=tmp_path / "empty"))
