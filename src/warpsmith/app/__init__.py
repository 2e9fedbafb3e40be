"""What people see of warpsmith: its command line."""
