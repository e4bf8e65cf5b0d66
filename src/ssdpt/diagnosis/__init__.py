"""Diagnosis lines: the frequencies at which the parts of a machine can be heard."""
