"""How good a detector is: the one room that reads labels."""
