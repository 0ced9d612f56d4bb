"""Forgotten sources, taken out of everything that was written from them."""
