"""Baselines: normal sound is collected live, and a model is fitted to it."""
