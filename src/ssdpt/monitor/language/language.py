"""One language: translated sentences, and numbers and times as its readers write them.

English sentences are the keys; the other languages are gettext catalogues, `locales/de.po` and so
on. Babel reads them and knows the formats of each language; plural forms stand in the catalogue.
"""

from __future__ import annotations

import gettext
from collections.abc import Callable
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args
from zoneinfo import ZoneInfo

from ssdpt.common.numbers import Numbers

if TYPE_CHECKING:
    from babel.messages.catalog import Catalog

LanguageCode = Literal["en", "de", "es", "ja"]
LANGUAGES: tuple[LanguageCode, ...] = get_args(LanguageCode)
_LOCALES = Path(__file__).parent / "locales"


class Language:
    """Words, numbers and times of one language."""

    def __init__(self, code: LanguageCode) -> None:
        from babel import Locale  # the core of the package is imported without the extra `serve`

        self.code = code
        # English as in the rest of the product: 24 hours, the day before the month.
        self.locale = Locale.parse("en_GB" if code == "en" else code)
        symbols = self.locale.number_symbols["latn"]
        self.numbers = Numbers(symbols["decimal"], symbols["group"])
        self._sentences = _catalogue(code)

    def text(self, sentence: str, /, **values: object) -> str:
        """The translation of an English sentence, with `{name}` replaced by its value."""
        return self._sentences.get(sentence, (sentence,))[0].format(**values)

    def plural(self, one: str, many: str, count: int, /, **values: object) -> str:
        """The form for `count`, which replaces `{count}`."""
        forms = self._sentences.get(one)
        if forms is None:
            form = one if count == 1 else many
        else:
            form = forms[_plural_rule(self.code)(count)]
        return form.format(count=count, **values)

    def percent(self, share: float) -> str:
        """Such as `60 %`; never 0 % for something that is there."""
        if 0 < share < 0.005:
            return self.text("under 1 %")
        return self.text("{number} %", number=self.numbers.fixed(100 * share))

    def time(self, seconds: float, zone: str) -> str:
        """Date and time of day in a time zone, of seconds since 1970, UTC."""
        from babel.dates import format_datetime

        return format_datetime(
            datetime.fromtimestamp(seconds, ZoneInfo(zone)), "medium", locale=self.locale
        )

    def day(self, seconds: float, zone: str) -> str:
        """The date in a time zone, of seconds since 1970, UTC."""
        from babel.dates import format_date

        return format_date(datetime.fromtimestamp(seconds, ZoneInfo(zone)), locale=self.locale)


@cache
def _read(code: LanguageCode) -> Catalog | None:
    """The gettext catalogue of a language; None for English."""
    path = _LOCALES / f"{code}.po"
    if not path.exists():
        return None
    from babel.messages.pofile import read_po

    with path.open("rb") as file:
        return read_po(file, locale=code)


@cache
def _catalogue(code: LanguageCode) -> dict[str, tuple[str, ...]]:
    """Translations by English sentence, one for each plural form; empty for English."""
    return {
        message.id if isinstance(message.id, str) else message.id[0]: (
            (message.string,) if isinstance(message.string, str) else tuple(message.string)
        )
        for message in _read(code) or ()
        if message.id and message.string
    }


@cache
def _plural_rule(code: LanguageCode) -> Callable[[int], int]:
    """Which of a sentence's forms is meant for a number, as the catalogue says."""
    catalogue = _read(code)
    assert catalogue is not None  # only asked for translated sentences
    return gettext.c2py(catalogue.plural_expr)
