"""Proposals: writes that wait for a reviewer, the policy that asks for them, and what becomes of them."""
