"""What the service says to people, as sentences that can be translated.

Each sentence has a code, such as `sources.noData`, and values. Its English text is written once, in
`english/<area>.json`; the page has the other languages, by code (`web/src/i18n`).
"""

from ssdpt.sentences.sentence import Sentence as Sentence
from ssdpt.sentences.sentence import clauses as clauses
from ssdpt.sentences.sentence import said as said
