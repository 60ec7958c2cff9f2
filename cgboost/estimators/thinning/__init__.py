"""Thinning of fitted ensembles: few members with new weights, chosen by a linear program."""
