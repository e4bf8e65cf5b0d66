"""Neural networks: each file is one network of a paper, or the code that runs it fast."""
