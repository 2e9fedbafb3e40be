"""What the compiled machine needs of this computer.

`parts.py`   what is compiled by itself   `machine_code.py`   LLVM IR becomes machine code, which is kept on disk
`together.py`   several threads at one work   `answers.py`   what machine code asks Python
"""
