"""Makes a release: builds, checks what was built, and writes what belongs beside it."""
