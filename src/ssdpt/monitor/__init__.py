"""Live monitoring: a second of sound goes one way, and each package does one thing to it.

sensor → sources → capture → scoring → ssdpt.alarms → events → store, outputs, live stream; the
service joins them. Knows no HTTP.
"""
