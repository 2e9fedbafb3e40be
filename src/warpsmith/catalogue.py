"""The literal tuple of all steps."""
