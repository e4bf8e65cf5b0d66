"""Alarms: scores and times in, states out.

Pure logic without threads, clocks or files. The live service, the evaluation and the benchmarks run
exactly this code.
"""
