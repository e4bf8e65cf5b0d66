"""`ssdpt ablate`: the default system with each component removed in turn."""
