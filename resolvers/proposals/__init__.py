"""Proposals: writes that wait for a reviewer, the write policy that requires them, and decisions about them."""
