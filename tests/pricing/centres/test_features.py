"""Features that a kernel reads."""

import numpy as np

from cgboost import RBF, Linear, On
from cgboost.kernels import Kernel, Normalized
from cgboost.pricing.centres.features import features_read

X = np.random.default_rng(0).normal(size=(9, 4))


def test_the_features_that_a_kernel_reads() -> None:
    """Those of all its parts: of a sum on two columns both, all where a part has no columns."""

    def read(kernel: Kernel) -> list[bool]:
        return features_read(kernel.fit(X), 4).tolist()

    assert read(RBF(0.3)) == [True] * 4
    assert read(On(RBF(0.3), [0, 2])) == [True, False, True, False]
    assert read(On(RBF(0.3), 0) + On(Linear(), 3)) == [True, False, False, True]
    assert read(Normalized(On(Linear(), 1))) == [False, True, False, False]
    assert read(On(RBF(0.3), 0) + Linear()) == [True] * 4
