"""The claims of the paper, checked against its printed numbers and against the results."""
