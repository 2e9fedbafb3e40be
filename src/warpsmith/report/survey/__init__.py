"""The report of `survey`: a format a file, offered by app/cli/commands/survey.py. Read `model.py`."""
