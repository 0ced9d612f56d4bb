"""The shapes of this door, which its OpenAPI document is made of."""
