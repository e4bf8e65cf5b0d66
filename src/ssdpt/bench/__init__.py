"""Benchmarks: every figure in README and docs comes from one of these commands."""
