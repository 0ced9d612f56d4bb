"""Notifications of changes, and the subscribers that follow them."""
