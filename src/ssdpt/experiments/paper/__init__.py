"""The experiments of the paper: variants, data, cells, where they run, and their results."""
