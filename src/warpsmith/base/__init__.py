"""The foundation of every package: source text, spans, edits, verdicts, findings and errors. Read `source.py`,
`findings.py`."""
