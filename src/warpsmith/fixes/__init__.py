"""Edits of the user's text that mend what a rule found, where one token or one line does: one rule a file.

finding + trees + facts ─► propose.py ─► Fix (edits, safe or not) ─► flows/explaining/checked_fixes.py: analyzed again

Read `site.py` first: it is what every rule's file asks about the text. A proposal is never the last word: it counts
only where the edited file, read and analyzed again, has the finding no more and no other one.
"""
