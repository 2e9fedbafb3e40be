"""Commands that do work, one a file. Read `port.py`: all are alike."""
