"""Commands that tell about warpsmith and its surroundings, one a file."""
