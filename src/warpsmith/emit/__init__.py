"""Text for a target."""
