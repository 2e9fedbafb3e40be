"""The stations of PORT: steps, plan, checks, referee, patches. Read `../port.py` first."""
