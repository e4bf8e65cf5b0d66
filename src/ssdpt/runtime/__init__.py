"""Exported models: one graph from samples to scores, and scoring with it without torch."""
