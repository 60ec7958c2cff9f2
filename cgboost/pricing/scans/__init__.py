"""Scans of finite pools of columns: full, by strata, partial."""
