"""Masters of a support-vector loss and a norm: their dual over the training rows."""
