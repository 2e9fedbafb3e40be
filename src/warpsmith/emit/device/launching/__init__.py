"""How kernels are launched: grids in numbers and as text, and the functions that launch them."""
