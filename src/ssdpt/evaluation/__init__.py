"""How good a detector is. Only this package and the experiments above it read labels."""
