"""Changes of variables in front of an optimizer, each with its way back.

One law holds for all: a solution of the new problem, taken back, is one of the old problem, with
its objective, its bound and its pseudo-response. ``solver_choice.py`` says which problem has which.
"""
