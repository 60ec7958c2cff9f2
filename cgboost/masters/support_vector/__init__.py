"""Masters of a support-vector loss and a norm: their dual over the training rows."""

from cgboost.masters.support_vector.master import SupportVectorMaster, WarmStart

__all__ = ["SupportVectorMaster", "WarmStart"]
