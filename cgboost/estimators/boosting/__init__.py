"""The classical boosters: AdaBoost, AnyBoost, LogitBoost, gradient boosting, L2-Boosting."""
