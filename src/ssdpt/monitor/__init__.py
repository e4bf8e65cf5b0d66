"""Live machines: from sound as it comes to states, events and history. Knows no HTTP."""
