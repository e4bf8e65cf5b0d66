"""What the tests of notifications share: machines, a clock, and what receivers have got."""

from __future__ import annotations

import email
import email.policy

from sample_messages import changed

from ssdpt.alarms.findings import Finding
from ssdpt.monitor.messages import (
    EventChanged,
)
from ssdpt.monitor.outputs.context import MachineLabel
from waiting import wait_until

PASSWORD = "correct horse: @battery/%"
PNG = b"\x89PNG a picture"
TIME = 1.7e9  # 2023-11-14 22:13:20 UTC, a Tuesday
FINDINGS = (Finding(code="tone", hz=130.2, db=30.4, new=True), Finding(code="level", db=6.0))
MACHINES = {
    "pump-3": MachineLabel("Pump 3", "Hall A", "pumps"),
    **{f"fan-{number}": MachineLabel(f"Fan {number}", "", "fans") for number in range(10)},
}
AT_ONCE = {"group_within": 0.0, "wait_for_picture": 0.0}


class Clock:
    """Time that passes only when a test says so."""

    def __init__(self):
        self.now = TIME

    def __call__(self):
        return self.now


def tell(output, *events):
    """Publish events, decide, and wait until what is due has arrived."""
    for event in events:
        output.publish(EventChanged(event=event))
    step(output)


def step(output):
    output.process()
    wait_until(lambda: all(address.status.queued == 0 for address in output._addresses))


def mail_url(sink, to="ann@example.org", more=""):
    return f"mailto://127.0.0.1:{sink.port}/?from=ssdpt@example.org&to={to}{more}"


def mails(sink):
    return [email.message_from_string(text, policy=email.policy.default) for _, text in sink.mails]


def text_of(mail):
    return mail.get_body().get_content().strip()


def subjects(sink):
    return [mail["Subject"] for mail in mails(sink)]


def heads(sink):
    return [subject.split(":")[0] for subject in subjects(sink)]


def place(receiver):
    return receiver.url.removeprefix("http://")


def ended(event, **more):
    return changed(event, ended=event.began + 90, **more)
