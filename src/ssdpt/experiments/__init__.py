"""Experiments: the demo, the reproduction of the paper, and ablations of the default system."""
