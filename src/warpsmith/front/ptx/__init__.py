"""PTX becomes the kernel IR: read line by line, registers become SSA values, `.loc` lines become spans. Read
`read.py`."""
