"""Readers of the models that people hold: one small module for each modelling tool.

Each has ``read(model) -> ModelParts``. They read names, bounds, coefficients, senses and constants
from the objects, since the files that tools write of a model lose some of these (constants, senses,
variables in no row). What is no mixed-integer linear program raises a ModelError with its name.
"""
