"""AMD's GPUs of the years 2007 to 2011, whose units take five (or four) operations a bundle: arithmetic on numbers.

gpus.py         the list (gpus.toml)        slots.py   which slots of a bundle an operation may stand in
throughput.py   bundles and fetches become cycles and threads a second
"""
