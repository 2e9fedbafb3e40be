"""Teams of threads that ask for their numbers, as loops over teams and threads. Read `read.py`."""
