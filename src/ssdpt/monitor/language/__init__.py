"""The languages of what is sent to people: mails, notifications and reports."""

from ssdpt.monitor.language.language import LANGUAGES as LANGUAGES
from ssdpt.monitor.language.language import Language as Language
from ssdpt.monitor.language.language import LanguageCode as LanguageCode
