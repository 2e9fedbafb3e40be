"""Where a policy puts the arrays of each nest, and where the port has them, as text and as JSON."""
