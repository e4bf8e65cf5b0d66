"""Joins the live half: machines, the loop over them, and what people do with them."""
