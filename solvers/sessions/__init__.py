"""Live models: programs that grow and are solved again."""
