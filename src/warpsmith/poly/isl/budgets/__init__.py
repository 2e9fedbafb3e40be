"""How much work isl may do: budgets of its operations (`budget.py`, to read first), and answers that are kept."""
