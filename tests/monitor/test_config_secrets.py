"""What is wrong with a configuration is said without the secrets that stand beside it."""

from __future__ import annotations

import traceback

import pytest
import yaml

from ssdpt.errors import SsdptError
from ssdpt.monitor.config import read_monitor_config, store_url
from ssdpt.monitor.outputs import create_output
from ssdpt.monitor.store import Store

SECRET = "q7Vd2Xm9Lk"
PUSHED = {"id": "mill-1", "source": {"kind": "pushed"}}


def _with_output(**settings):
    return {"machines": [PUSHED], "outputs": [settings]}


def _with_source(**settings):
    return {"machines": [{"id": "camera-1", "source": settings}]}


def _with_plc(**settings):
    values = {"kind": "opcua", "speed_rpm": {"node": "i=1"}, **settings}
    return {"machines": [{**PUSHED, "operating_data": values}]}


@pytest.mark.parametrize(
    "content",
    [
        _with_output(kind="webhook", url=f"htp://host/{SECRET}"),
        _with_output(kind="webhook", url=f"http:///{SECRET}"),
        _with_output(kind="webhook", url=f"http://me:{SECRET}@host/"),
        _with_output(kind="webhook", url=["http://host", SECRET]),
        _with_output(kind="webhook", adress=f"http://host/{SECRET}"),
        _with_output(
            kind="webhook", url="http://host/", template={"key": SECRET, "text": "{{ evnt }}"}
        ),
        _with_output(kind="webhook", url="http://host/", template=f'{SECRET} "{{{{ event'),
        _with_output(kind="heartbeat", url=f"host/{SECRET}"),
        _with_output(kind="heartbeat", url=f"http://host/{SECRET}", every="never"),
        _with_output(kind="hartbeat", url=f"http://host/{SECRET}"),
        _with_output(kind="notify", urls=[f"jsn://me:{SECRET}@host"]),
        _with_output(kind="notify", urls=[f"mailto://me:{SECRET}@"]),
        _with_output(kind="notify", urls=f"json://me:{SECRET}@host", language="xx"),
        _with_output(kind="mqtt", host="host", password=SECRET),
        _with_source(kind="network", url=f"tcp://host?listen=1&pwd={SECRET}"),
        _with_source(kind="network", url=f"rtsp://me:{SECRET}@host", channel="left"),
        _with_source(kind="network", address=f"rtsp://me:{SECRET}@host"),
        _with_source(kind="camera", url=f"rtsp://me:{SECRET}@host"),
        _with_plc(endpoint=f"opc.tcp://me:{SECRET}@host"),
        _with_plc(endpoint=f"opc.udp://me:{SECRET}@host"),
        {"machines": [PUSHED], "store": f"oracle://me:{SECRET}@host/x"},
        {"machines": [PUSHED], "store": f"postgresql+psycopg://me:{SECRET}@127.0.0.1:1/x"},
        {"machines": [PUSHED], "store": f"postgresql://me:{SECRET}@[host/x"},
        f"outputs: [{{kind: webhook, url: 'http://host/{SECRET}]",
        f"url: x: {SECRET}: y",
        f"- {SECRET}",
        f"store: !!float {SECRET}",
        f"store: !{SECRET} x",
        f"store: *{SECRET}",
        f"store: !!int {SECRET}",
    ],
    ids=str,
)
def test_no_sentence_and_no_traceback_repeats_a_secret(tmp_path, content):
    """Tracebacks are printed with --verbose."""
    path = tmp_path / "monitor.yaml"
    path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
    with pytest.raises(SsdptError) as raised:
        _use(path)
    assert SECRET not in str(raised.value)
    assert SECRET not in "".join(traceback.format_exception(raised.value))


def _use(path):
    """As `ssdpt serve` does."""
    config = read_monitor_config(path)
    for output in config.outputs:
        create_output(output)
    Store.open(store_url(config, path.parent), path.parent).close()
