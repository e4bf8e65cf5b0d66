"""The whole service under load, in a process of its own."""
