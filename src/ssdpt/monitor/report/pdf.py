"""The weekly report as a PDF file, A4."""

from __future__ import annotations

import logging

from fpdf import FPDF, FontFace

from ssdpt.errors import SsdptError
from ssdpt.monitor.messages import WeeklyReport
from ssdpt.monitor.report.font import FontFiles, japanese_font, latin_font
from ssdpt.monitor.report.wording import ReportText, Section, Table, report_text
from ssdpt.sentences import Sentence

_MARGIN = 16.0  # mm
_TITLE, _HEADING, _TEXT, _SMALL = 16, 12, 9, 8  # points
_LINE = 5.0  # mm
_INK, _SOFT, _RULE, _HEAD = (22, 33, 43), (82, 97, 110), (211, 218, 224), (238, 241, 243)


def report_pdf(report: WeeklyReport) -> bytes:
    """The report in the language of the plant.

    SsdptError where the computer has no font with the letters of that language.
    """
    text = report_text(report)
    page = _Page(report)
    page.add_page()
    page.write_report(text)
    return bytes(page.output())


class _Page(FPDF):
    """Titles, sentences and tables, one below the other; each page is numbered."""

    def __init__(self, report: WeeklyReport) -> None:
        super().__init__(format="A4")
        self._week = f"{report.plant}, {report.week}"
        self.set_margins(_MARGIN, _MARGIN)
        self.set_auto_page_break(auto=True, margin=_MARGIN + 4)
        self.set_lang(report.language)
        self._family = self._choose_font(japanese=report.language == "ja")

    def write_report(self, text: ReportText) -> None:
        self.set_title(text.title)
        self._sentence(text.title, _TITLE, bold=True)
        self._sentence(text.dates, _TEXT, colour=_SOFT)
        self.ln(2)
        self._style(_TEXT)
        with self.table(
            col_widths=(30, 70), line_height=_LINE + 0.8, borders_layout="NONE",
            first_row_as_headings=False,
        ) as table:  # fmt: skip
            for name, figure in text.summary:
                row = table.row()
                row.cell(self._printable(name), style=FontFace(color=_SOFT))
                row.cell(self._printable(figure))
        for section in text.sections:
            self._section(section)

    def footer(self) -> None:
        self.set_y(-_MARGIN)
        self._style(_SMALL, colour=_SOFT)
        self.cell(0, _LINE, self._printable(f"{self._week}  ·  {self.page_no()}/{{nb}}"), align="R")

    def _section(self, section: Section) -> None:
        self.ln(3)
        if self.will_page_break(6 * _LINE):
            self.add_page()  # a heading is never the last line of a page
        self._sentence(section.title, _HEADING, bold=True)
        if isinstance(section.content, Table):
            self._table(section.content)
        else:
            self._sentence(section.content, _TEXT)

    def _table(self, content: Table) -> None:
        self._style(_TEXT)
        self.set_draw_color(*_RULE)
        with self.table(
            col_widths=content.widths, line_height=_LINE - 0.6, padding=(0.8, 1.5, 0.8, 1),
            borders_layout="HORIZONTAL_LINES", text_align="LEFT", v_align="T",
            headings_style=FontFace(emphasis="BOLD", color=_INK, fill_color=_HEAD),
        ) as table:  # fmt: skip
            for cells in (content.heads, *content.rows):
                row = table.row()
                for cell in cells:
                    row.cell(self._printable(cell))

    def _sentence(
        self, text: str, size: int, *, bold: bool = False, colour: tuple[int, int, int] = _INK
    ) -> None:
        self._style(size, bold=bold, colour=colour)
        height = max(_LINE, size * 0.5)
        self.multi_cell(0, height, self._printable(text), align="L", new_x="LMARGIN", new_y="NEXT")

    def _style(self, size: int, *, bold: bool = False, colour: tuple[int, int, int] = _INK) -> None:
        self.set_font(self._family, "B" if bold else "", size)
        self.set_text_color(*colour)

    def _choose_font(self, *, japanese: bool) -> str:
        """The family of the text; letters that it lacks come from the other."""
        # It tells of every table of a font that it leaves out.
        logging.getLogger("fontTools.subset").setLevel(logging.ERROR)
        east, west = japanese_font(), latin_font()
        if japanese and east is None:
            raise SsdptError(Sentence("api.noJapaneseFont"))
        families = (
            [("east", east), ("west", west)] if japanese else [("west", west), ("east", east)]
        )
        known = [(name, files) for name, files in families if files is not None]
        for name, files in known:
            self._add(name, files)
        if not known:
            return "helvetica"
        first, *others = (name for name, _ in known)
        self.set_fallback_fonts(others, exact_match=False)
        return first

    def _add(self, family: str, files: FontFiles) -> None:
        self.add_font(family, "", files.regular)
        self.add_font(family, "B", files.bold)

    def _printable(self, text: str) -> str:
        """Without letters that the font of last resort does not have."""
        if self._family != "helvetica":
            return text
        return text.encode("latin-1", "replace").decode("latin-1")
