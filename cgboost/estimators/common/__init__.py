"""Parameters, checks, the fit and its result: what all estimators share."""
