"""Composing a plan and written sections into changes of pages, and storing them."""
