"""Programs built against the emulated GPU (`../emulation`), and what it saw. Read `build.py`."""
