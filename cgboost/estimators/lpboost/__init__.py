"""Totally corrective boosting over stumps and weak learners."""
