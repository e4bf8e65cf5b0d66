"""What people are told: title and text of notifications, in the plant's language and time zone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ssdpt.monitor.events.descriptions import cause
from ssdpt.monitor.language import Language
from ssdpt.monitor.messages import Attachment, Event, Notification, ServiceStarted, ServiceStopped
from ssdpt.monitor.outputs.context import OutputContext
from ssdpt.monitor.outputs.digest import News, NewsStage

_NAMED_AT_MOST = 3  # machines in a title
_URGENCY = {"alarm": "alarm", "reminder": "alert", "alert": "alert", "ended": "over"}
_HEADS: dict[NewsStage, str] = {
    "alarm": "Alarm: {machine}: {cause}",
    "alert": "Alert: {machine}: {cause}",
    "ended": "Over: {machine}: {cause}",
    "reminder": "Reminder: {machine}: {cause}",
}
_COUNTS: dict[NewsStage, tuple[str, str]] = {
    "alarm": ("{count} alarm", "{count} alarms"),
    "alert": ("{count} alert", "{count} alerts"),
    "ended": ("{count} over", "{count} over"),
    "reminder": ("{count} reminder", "{count} reminders"),
}


class NotificationText:
    """Words notifications for one plant."""

    def __init__(self, context: OutputContext) -> None:
        self._context, self._language = context, Language(context.language)

    def of(self, news: Sequence[News], now: float) -> Notification:
        """One message about all of these, the most urgent first."""
        title = self.headline(news[0]) if len(news) == 1 else self._summary(news)
        if any(one.held for one in news):
            title = self._language.text("After quiet hours: {title}", title=title)
        if len(news) == 1:
            text = self._details(news[0], now)
        else:
            text = "\n\n".join(self._paragraph(one, now) for one in news)
        return Notification(
            title=title,
            text=text,
            urgency="alarm" if news[0].is_urgent else _URGENCY[news[0].stage],
            attachments=self._pictures(news),
        )

    def headline(self, news: News) -> str:
        """Machine and cause in one line, such as a subject: a line break would end a header."""
        return self._one_line(
            _HEADS[news.stage],
            machine=self._context.label(news.event.machine).name,
            cause=cause(news.event, self._language),
        )

    def service_stopped(self, message: ServiceStopped) -> Notification:
        """Nobody listens to the machines from now on."""
        return Notification(
            title=self._one_line("Monitoring stopped: {plant}", plant=self._context.plant),
            text=self._language.text(
                "The service was stopped at {time}. Machines are not monitored until it is "
                "started again.",
                time=self.time(message.at),
            ),
            urgency="alert",
        )

    def service_started(self, message: ServiceStarted) -> Notification:
        """Machines are monitored again."""
        pause = self._duration(message.at - message.last_alive)
        title = self._one_line(
            "Monitoring restarted: {plant}: {duration} without monitoring",
            plant=self._context.plant,
            duration=pause,
        )
        reason = (
            "The service had been stopped."
            if message.orderly
            else "The service had broken off without being stopped: a crash or a power cut."
        )
        text = self._language.text(
            "Machines were not monitored from {begin} to {end}.",
            begin=self.time(message.last_alive),
            end=self.time(message.at),
        )
        return Notification(title=title, text=f"{text} {self._language.text(reason)}")

    def test(self, now: float) -> Notification:
        """To see whether messages arrive."""
        return Notification(
            title=self._one_line("Test: {plant}", plant=self._context.plant),
            text=self._language.text(
                "This is a test message, sent at {time}. Nothing has happened.",
                time=self.time(now),
            ),
        )

    def _details(self, news: News, now: float) -> str:
        event, say = news.event, self._language.text
        label = self._context.label(event.machine)
        where = f"{label.name}, {label.site}" if label.site else label.name
        lines = [
            *self._unacknowledged(news, now),
            say("Machine: {machine}", machine=" ".join(where.split())),
            *self._times(event),
        ]
        if len(event.episodes) > 1:
            lines.append(say("Came and went: {count} times", count=len(event.episodes)))
        if event.peak is not None and event.threshold is not None:
            lines.append(
                say(
                    "Highest score: {score} (threshold {threshold})",
                    score=self._language.numbers.score(event.peak),
                    threshold=self._language.numbers.score(event.threshold),
                )
            )
        if event.findings:
            lines.append(say("What has changed against normal:"))
            lines += [f"- {finding.worded(self._language)}" for finding in event.findings]
        return "\n".join([*lines, *self._link(event)])

    def _paragraph(self, news: News, now: float) -> str:
        """The same, shorter: there are others in the message."""
        lines = [self.headline(news), *self._unacknowledged(news, now), *self._times(news.event)]
        return "\n".join([*lines, *self._link(news.event)])

    def _summary(self, news: Sequence[News]) -> str:
        """Such as `2 alarms, 1 alert: Pump 3, Fan 1 and 4 more`."""
        counts = Counter(one.stage for one in news)
        what = ", ".join(
            self._language.plural(*_COUNTS[stage], count) for stage, count in counts.items()
        )
        names = list(dict.fromkeys(self._context.label(one.event.machine).name for one in news))
        listed = ", ".join(names[:_NAMED_AT_MOST])
        more = len(names) - _NAMED_AT_MOST
        if more > 0:
            listed = self._language.text("{names} and {count} more", names=listed, count=more)
        return " ".join(f"{what}: {listed}".split())

    def _unacknowledged(self, news: News, now: float) -> list[str]:
        if news.stage != "reminder":
            return []
        if news.event.is_over:
            return [self._language.text("Ended by itself; nobody has acknowledged it.")]
        duration = self._duration(now - news.event.began)
        return [self._language.text("Active and unacknowledged for {duration}.", duration=duration)]

    def _times(self, event: Event) -> list[str]:
        lines = [self._language.text("Began: {time}", time=self.time(event.began))]
        if event.ended is not None:
            lines.append(self._language.text("Ended: {time}", time=self.time(event.ended)))
        return lines

    def _link(self, event: Event) -> list[str]:
        link = self._context.link(event.id)
        return [link] if link else []

    def _pictures(self, news: Sequence[News]) -> tuple[Attachment, ...]:
        """Of the most urgent event that has one: many services send every file by itself."""
        for one in news:
            content = self._context.picture(one.event.id) if one.event.has_audio else None
            if content is not None:
                name = f"{one.event.machine}.png"
                return (Attachment(name=name, media_type="image/png", content=content),)
        return ()

    def _one_line(self, sentence: str, **values: str) -> str:
        return " ".join(self._language.text(sentence, **values).split())

    def time(self, seconds: float) -> str:
        """Date and time of day where the plant is."""
        return self._language.time(seconds, self._context.timezone)

    def _duration(self, seconds: float) -> str:
        if seconds < 59.5:
            return self._language.plural("{count} second", "{count} seconds", round(seconds))
        minutes = round(seconds / 60)
        if minutes < 120:
            return self._language.plural("{count} minute", "{count} minutes", minutes)
        hours = round(minutes / 60)
        if hours < 48:
            return self._language.plural("{count} hour", "{count} hours", hours)
        return self._language.plural("{count} day", "{count} days", round(hours / 24))
