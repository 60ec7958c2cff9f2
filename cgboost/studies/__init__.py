"""Data sets, the odd/even study and the command line."""
