"""Programs, their solutions and their errors."""
