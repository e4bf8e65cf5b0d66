"""How objects show themselves in a notebook: HTML and SVG that need no script and no network."""
