"""What is done to a program before a solver sees it, and to its answer afterwards."""
