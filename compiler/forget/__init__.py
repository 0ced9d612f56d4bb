"""Forgetting sources: removing everything that was written from them."""
