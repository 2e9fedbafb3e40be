"""Commands that tell about warpsmith and its surroundings, one a file. Read `rules.py`: all are alike."""
