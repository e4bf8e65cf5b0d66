"""From chunks of samples to levels and frames, each computed once."""
