"""The machine with clocks: traces worked by hand, the reference, the compiled machine."""
