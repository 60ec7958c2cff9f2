"""Stages as SQL, as a graph, in words."""
