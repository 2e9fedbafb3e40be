"""The straight lines, each one function that fits a screen."""
