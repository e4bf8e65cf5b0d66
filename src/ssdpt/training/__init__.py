"""One training loop for all networks: updates, checkpoints, log, parallel trainings."""
