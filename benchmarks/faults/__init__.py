"""Faults that are caused on purpose: what was acknowledged before, what is lost, and how long clients notice."""
