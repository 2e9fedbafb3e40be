"""The user's files edited by a command: fixes, patches; `rewrite.py` writes them whole or not at all."""
