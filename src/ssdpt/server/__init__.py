"""HTTP over the monitor: the API under /v1, live streams and the page. Judges nothing itself."""
