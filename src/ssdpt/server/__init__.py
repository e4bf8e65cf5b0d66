"""The web server: the API under /v1, the live stream and the page."""
