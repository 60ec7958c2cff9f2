"""Pricing of whole RKHSs: scores σ_p = √(rᵀK_p r/w_p), and the rows that are good centres."""
