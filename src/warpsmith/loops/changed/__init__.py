"""What steps have changed, beside the text of the user: the smallest runs that differ, and guards around them."""
