"""Recordings: reading sound files, recognising layouts, splitting, inspecting, fetching."""
