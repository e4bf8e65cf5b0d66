"""The weekly report as a message to people: its text, with the PDF file."""

from __future__ import annotations

from ssdpt.errors import SsdptError
from ssdpt.monitor.messages import Attachment, Notification, WeeklyReport
from ssdpt.monitor.report.pdf import report_pdf
from ssdpt.monitor.report.wording import report_text


def report_notification(report: WeeklyReport) -> Notification:
    """Without the file, and with the reason, where it cannot be made: the text is sent anyway."""
    text = report_text(report)
    try:
        file = Attachment(
            name=f"report-{report.week}.pdf",
            media_type="application/pdf",
            content=report_pdf(report),
        )
    except SsdptError as error:
        return Notification(title=text.title, text=f"{text.plain()}\n(PDF: {error})\n")
    return Notification(title=text.title, text=text.plain(), attachments=(file,))
