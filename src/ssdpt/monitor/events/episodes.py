"""Episodes of an event: the stretches in which its cause was there."""

from __future__ import annotations

from itertools import pairwise

from ssdpt.monitor.messages import Episode, Event, EventLevel

_MOST = 100  # of one event; every change of it sends them all


def add_episode(event: Event, level: EventLevel, now: float, score: float | None) -> Event:
    """It has come, or come back, at this level."""
    episode = Episode(began=now, level=level, peak=score)
    return _raised(event, (*event.episodes, episode), level, score).model_copy(
        update={"ended": None, "may_continue": False}
    )


def raise_episode(event: Event, level: EventLevel, score: float | None) -> Event:
    """Its present episode has this level and score."""
    if not event.episodes:
        return _raised(event, (), level, score)
    *before, last = event.episodes
    last = last.model_copy(
        update={"level": _higher(last.level, level), "peak": _highest(last.peak, score)}
    )
    return _raised(event, (*before, last), level, score)


def end_event(event: Event, now: float) -> Event:
    """It is over, and so is its last episode."""
    # The clock may have been set back, or the machine's clock run ahead.
    began = event.episodes[-1].began if event.episodes else event.began
    ended = max(now, began)
    episodes = event.episodes
    if episodes:
        episodes = (*episodes[:-1], episodes[-1].model_copy(update={"ended": ended}))
    return event.model_copy(update={"ended": ended, "episodes": episodes, "may_continue": False})


def _raised(
    event: Event, episodes: tuple[Episode, ...], level: EventLevel, score: float | None
) -> Event:
    return event.model_copy(
        update={
            "episodes": _joined(episodes),
            "level": _higher(event.level, level),
            "peak": _highest(event.peak, score),
        }
    )


def _joined(episodes: tuple[Episode, ...]) -> tuple[Episode, ...]:
    """At most `_MOST`: the two with the shortest pause between them count as one."""
    while len(episodes) > _MOST:
        pauses = [
            after.began - (before.ended or after.began) for before, after in pairwise(episodes)
        ]
        first = pauses.index(min(pauses))
        one, other = episodes[first : first + 2]
        both = Episode(
            began=one.began,
            ended=other.ended,
            level=_higher(one.level, other.level),
            peak=_highest(one.peak, other.peak),
        )
        episodes = (*episodes[:first], both, *episodes[first + 2 :])
    return episodes


def _higher(one: EventLevel, other: EventLevel) -> EventLevel:
    return "alarm" if "alarm" in (one, other) else "alert"


def _highest(one: float | None, other: float | None) -> float | None:
    known = [peak for peak in (one, other) if peak is not None]
    return max(known, default=None)
