"""The weekly report: its week, its text in any language, and its PDF file."""
