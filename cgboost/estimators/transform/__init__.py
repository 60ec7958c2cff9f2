"""Transform regression and additive models."""
