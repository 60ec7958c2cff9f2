"""Problems of ``tests/seeded_fits.py``."""
