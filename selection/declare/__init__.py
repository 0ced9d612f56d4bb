"""Declarations: how fields, arguments and rows of the contract map to SQL."""
