"""The command line, one file a command. Read `main.py`, then `command.py`: what all commands share."""
