"""Where the figures in README and docs come from: one command each."""
