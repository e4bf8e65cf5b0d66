"""Progress of parallel jobs: each message names its job."""

from __future__ import annotations

import contextlib

from ssdpt.common.progress import Labelled, Reporter, Task


def test_every_word_carries_the_name():
    messages = []

    class Listening(Reporter):
        def say(self, message):
            messages.append(message)

        warn = detail = say

        @contextlib.contextmanager
        def task(self, description, total=None):
            messages.append((description, total))
            yield Task()

    labelled = Labelled(Listening(), "fan")
    labelled.say("begun")
    labelled.warn("slow")
    labelled.detail("quite")
    with labelled.task("training", 7) as task:
        task.advance()
    assert messages == ["fan: begun", "fan: slow", "fan: quite", ("fan training", 7)]
