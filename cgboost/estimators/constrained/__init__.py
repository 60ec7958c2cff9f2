"""Boosting under constraints: models that obey, with a certificate."""
