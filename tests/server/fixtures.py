"""One example of every model that the page reads, from which the mock of the page starts.

`python tests/server/fixtures.py > web/mock/fixtures.json` writes them.
"""

from __future__ import annotations

import json

import examples

from ssdpt.monitor.messages import DriftStatus, LearningProgress
from ssdpt.monitor.setup_messages import ChangeEffect
from ssdpt.server.schemas import (
    BackupSize,
    EventSuggestions,
    MachineSound,
    SessionInfo,
    StatusReply,
    UserInfo,
)


def fixtures():
    """One example of every model that the page reads, by its name."""
    user = UserInfo(name="local", role="admin")
    every = [
        examples.machine(),
        examples.event(),
        examples.kept_recording(),
        examples.reading(),
        examples.service_status(),
        StatusReply(**dict(examples.service_status()), machines=(), user=user),
        examples.spectrum(),
        examples.spectrogram(),
        examples.event_spectrogram(),
        MachineSound(spectrum=examples.spectrum(), spectrogram=examples.spectrogram()),
        examples.model(),
        examples.output(),
        examples.output_test(),
        examples.trend(),
        examples.band_trend(),
        examples.bearing(),
        examples.line_set(),
        examples.named_line(),
        examples.sound_analysis(),
        examples.baseline(),
        examples.question(),
        examples.severity(),
        examples.outlook(),
        examples.accelerometer(),
        examples.band(),
        examples.change_point(),
        examples.tone(),
        examples.episodes()[0],
        examples.thresholds(),
        examples.operating_point(1),
        examples.source(),
        examples.operating_data(),
        examples.operating_data_source(),
        examples.upgrade_notice(),
        DriftStatus(
            message="The normal sound has changed slowly.", since=examples.TIME - 9 * 86400
        ),
        LearningProgress(seconds=420.0, target_seconds=900.0),
        examples.note(),
        examples.event_group(),
        examples.weekly_report(),
        EventSuggestions(causes=("dry bearing",), faults=("loose belt",)),
        examples.looks_like(),
        user,
        examples.definition(),
        examples.trial(),
        examples.microphones(),
        ChangeEffect(baseline="kept"),
        BackupSize(bytes=12_300_000),
        SessionInfo(name="admin", role="admin", csrf="token"),
    ]
    return {type(one).__name__: json.loads(one.model_dump_json()) for one in every}


if __name__ == "__main__":
    print(json.dumps(fixtures(), indent=1, ensure_ascii=False))
