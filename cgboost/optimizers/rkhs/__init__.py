"""Restricted problems whose columns are whole functions."""
