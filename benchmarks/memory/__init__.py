"""Measures how well evidence is found in conversations, what that costs, and whether newer statements come first."""
