"""Linear masters with rows of any sense, their Lagrangian bound, and integer solutions."""
