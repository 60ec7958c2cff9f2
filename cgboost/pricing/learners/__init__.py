"""Columns from weak learners: a fit to the pseudo-response stands for the search."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
