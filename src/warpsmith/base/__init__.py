"""What every package stands on: source text, spans, edits, verdicts, findings and errors. Read `source.py`,
`findings.py`."""
