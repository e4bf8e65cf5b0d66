"""Who is told what the monitor hears: MQTT brokers, webhooks, mailboxes, Prometheus, files."""

from __future__ import annotations

from collections.abc import Mapping

from ssdpt.monitor.config import MailSettings, MqttSettings, OutputSettings, WebhookSettings
from ssdpt.monitor.outputs.base import Output
from ssdpt.monitor.outputs.mail import MailOutput
from ssdpt.monitor.outputs.mqtt import MqttOutput
from ssdpt.monitor.outputs.webhook import WebhookOutput


def make_output(settings: OutputSettings, titles: Mapping[str, str] | None = None) -> Output:
    """An output that is not started; `titles` are names for people by machine.

    SsdptError: what no waiting can heal, e.g. a password file that is not there.
    """
    match settings:
        case MqttSettings():
            return MqttOutput(settings, titles)
        case WebhookSettings():
            return WebhookOutput(settings)
        case MailSettings():
            return MailOutput(settings, titles)


def open_output(settings: OutputSettings, titles: Mapping[str, str] | None = None) -> Output:
    """An output at work; as `make_output`."""
    output = make_output(settings, titles)
    output.start()
    return output
