"""Masters that add one coefficient a round, or refit all of them."""

from cgboost.masters.stagewise.stagewise import StagewiseMaster

__all__ = ["StagewiseMaster"]
