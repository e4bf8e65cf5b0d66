"""Events of machines: how they begin, change and end, and what is kept of them."""
