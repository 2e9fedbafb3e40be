"""What the compiled machine needs of this computer.

`machine_code.py`   LLVM IR becomes machine code, which is kept on disk   `together.py`   several threads at one work
"""
