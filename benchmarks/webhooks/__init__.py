"""Checks that webhook deliveries arrive in order although the sender and the receiver are killed."""
