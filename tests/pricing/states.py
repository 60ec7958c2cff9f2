"""Master states that have nothing but what a pricer looks at."""

import numpy as np

from cgboost.generation.protocols import EntryRule, MasterState


def state_of(response: np.ndarray, rule: EntryRule, slack: np.ndarray | None = None) -> MasterState:
    """A state with a pseudo-response, an entry rule and error points (slack > 0)."""
    zeros = np.zeros(len(response))
    return MasterState(
        columns=(),
        coef=np.zeros(0),
        intercept=0.0,
        output=zeros,
        pseudo_response=response,
        objective=1.0,
        slack=zeros if slack is None else slack,
        entry=rule,
    )
