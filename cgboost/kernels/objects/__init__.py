"""Kernels over objects: functions of two objects, strings, sets and graphs."""
