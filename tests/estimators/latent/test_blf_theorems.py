"""What [M] proves of Boosted Latent Factors, on real and on made data.

[M] is Momma, Bennett, *Constructing Orthogonal Latent Features for Arbitrary Loss*, 2006.
"""

import numpy as np
import pytest
from sklearn.cross_decomposition import PLSRegression

from cgboost import RBF, BLFClassifier, BLFRegressor, Linear, Precomputed
from tests.estimators.latent.latent_data import (
    CLASSES,
    DATA,
    LOSSES,
    OPTIONS,
    Watching,
    data_of,
    exact,
    model_of,
    noisy_line,
    outputs,
    overlapping,
    standardised,
)
from tests.pricing.latent.references import deflated_factors, full_optimum, kernel_pls


@pytest.mark.parametrize("name", DATA)
def test_squared_error_is_partial_least_squares(name: str) -> None:
    """Coefficients, predictions and factors (but for length and sign) are scikit-learn's."""
    X, y, count = DATA[name]
    model = BLFRegressor(count).fit(X, y)
    reference = PLSRegression(count, scale=False).fit(X, y)
    assert model.n_components_ == count
    coef = reference.coef_.ravel()
    np.testing.assert_allclose(model.coef_, coef, rtol=0, atol=1e-8 * np.abs(coef).max())
    np.testing.assert_allclose(model.predict(X), reference.predict(X).ravel(), atol=1e-8)
    along = (reference.x_scores_ / np.linalg.norm(reference.x_scores_, axis=0)).T @ model.x_scores_
    np.testing.assert_allclose(np.abs(along), np.eye(count), atol=1e-8)


@pytest.mark.parametrize("name", DATA)
def test_squared_error_with_a_kernel_is_kernel_pls(name: str) -> None:
    """Factors and outputs are those of an explicitly deflated Gram matrix."""
    X, y, count = DATA[name]
    X, count = standardised(X), min(count, 6)
    gamma = 0.3 / X.shape[1]
    K = RBF(gamma)(X, X)
    T, f = kernel_pls(K, y, count)
    model = BLFRegressor(count, kernel=RBF(gamma)).fit(X, y)
    np.testing.assert_allclose(model.x_scores_, T, atol=1e-8)
    np.testing.assert_allclose(model.predict(X), f, atol=1e-8 * np.abs(y).max())
    given = BLFRegressor(count, kernel=Precomputed()).fit(K, y)
    np.testing.assert_allclose(given.predict(K), model.predict(X), atol=1e-9 * np.abs(y).max())


@pytest.mark.parametrize("loss", LOSSES)
def test_lemmas_and_corollaries(loss: str) -> None:
    """W, T orthonormal, PᵀW triangular, uᵀT = 0, w ∝ X̃ᵀu; T is that of deflated data."""
    X, y = data_of(loss)
    watching = Watching()
    model = exact(loss, 5, callbacks=[watching]).fit(X, y)
    U, T, W, P = watching.responses, model.x_scores_, model.x_weights_, model.x_loadings_
    np.testing.assert_allclose(W.T @ W, np.eye(5), atol=1e-8)  # Lemma 1
    np.testing.assert_allclose(T.T @ T, np.eye(5), atol=1e-8)
    np.testing.assert_allclose(np.tril(P.T @ W, -1), 0.0, atol=1e-8 * np.abs(P).max())
    for i, u in enumerate(U):  # Lemma 2 and Corollary 1
        assert np.abs(u @ T[:, :i]).max(initial=0.0) <= 1e-8 * np.linalg.norm(u)
        assert abs(u.sum()) <= 1e-8 * np.abs(u).sum()
    slopes = (X - X.mean(axis=0)).T @ np.column_stack(U[:5])  # Corollary 2
    np.testing.assert_allclose(W, slopes / np.linalg.norm(slopes, axis=0), atol=1e-8)
    explicit = deflated_factors(X, U[:5])  # Theorem 1
    for ours, theirs in zip((T, W, P), explicit, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-8 * np.abs(theirs).max())
    np.testing.assert_allclose(model.transform(X), explicit[0], atol=1e-8)


@pytest.mark.parametrize("loss", LOSSES)
def test_lemmas_hold_without_full_refits_as_far_as_they_need_none(loss: str) -> None:
    """With the default steps T is still orthonormal, that of deflated data, and maps new rows."""
    X, y = data_of(loss, seed=3)
    watching = Watching()
    model = model_of(loss, 4, callbacks=[watching]).fit(X, y)
    T, W, _ = deflated_factors(X, watching.responses[:4])
    np.testing.assert_allclose(model.x_scores_, T, atol=1e-8)
    np.testing.assert_allclose(model.x_weights_, W, atol=1e-8)
    np.testing.assert_allclose(model.transform(X), T, atol=1e-8)


@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("loss", LOSSES)
def test_all_factors_reach_the_optimum_of_the_full_model(loss: str, weighted: bool) -> None:
    """With as many factors as features the loss is the least of any linear model."""
    X, y = data_of(loss, seed=1)
    weights = np.random.default_rng(0).uniform(0.1, 3.0, len(y)) if weighted else np.ones(len(y))
    model = exact(loss, X.shape[1]).fit(X, y, sample_weight=weights)
    target = 2.0 * y - 1.0 if loss in CLASSES else y
    optimum = full_optimum(loss, X, target, weights, **OPTIONS)
    assert model.objective_ == pytest.approx(optimum, rel=1e-6)
    assert model.objective_ >= optimum * (1 - 1e-7)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("delta", [1e-3, 0.1, 10.0])
def test_huber_reaches_its_optimum_wherever_it_bends(delta: float, seed: int) -> None:
    """Nearly the absolute error, in between, and nearly the squared error."""
    X, y = data_of("huber", seed=seed)
    model = BLFRegressor(6, loss="huber", delta=delta, newton_steps=None, newton_damping=0.0)
    optimum = full_optimum("huber", X, y, np.ones(len(y)), delta=delta)
    assert model.fit(X, y).objective_ == pytest.approx(optimum, rel=1e-6)


def test_a_linear_kernel_is_no_kernel() -> None:
    """Outputs, factors and the coefficients of the features, Xᵀβ, agree for every loss."""
    for loss in LOSSES:
        X, y = data_of(loss)
        plain, kernel = exact(loss).fit(X, y), exact(loss, kernel=Linear()).fit(X, y)
        new = np.random.default_rng(5).normal(size=(7, X.shape[1]))
        np.testing.assert_allclose(outputs(kernel, new), outputs(plain, new), atol=1e-8)
        np.testing.assert_allclose(kernel.x_scores_, plain.x_scores_, atol=1e-8)
        np.testing.assert_allclose(kernel.transform(new), plain.transform(new), atol=1e-8)
        np.testing.assert_allclose(X.T @ kernel.dual_coef_, plain.coef_, atol=1e-7)
        assert kernel.intercept_ == pytest.approx(plain.intercept_, abs=1e-7)


def test_the_dual_subgradient_satisfies_lemma_2_and_the_sign_does_not() -> None:
    """After the refit uᵀT = 0 for the dual; sign(y − f), with 0 at kinks, has none of that."""
    X, y = data_of("absolute_error")
    slopes = {}
    for subgradient in ("dual", "sign"):
        watching = Watching()
        model = BLFRegressor(
            3, loss="absolute_error", subgradient=subgradient, callbacks=[watching]
        ).fit(X, y)
        slopes[subgradient] = np.abs(watching.responses[-1] @ model.x_scores_).max()
    assert slopes["dual"] <= 1e-8
    assert slopes["sign"] >= 1e-2


def test_the_four_switches_end_as_in_figure_1() -> None:
    """Deflation with refit goes down furthest, the plain gradient stalls far above all others."""
    X, y = overlapping(120, 8, seed=2)
    ends = {
        switches: model_of(
            "log_loss", 25, kernel=RBF(0.01), deflate=switches[0], refit=switches[1]
        ).fit(X, y).objective_
        for switches in ((True, True), (True, False), (False, True), (False, False))
    }  # fmt: skip
    assert ends[True, True] < 0.1 * min(ends[True, False], ends[False, True])
    assert max(ends[True, False], ends[False, True]) < 0.5 * ends[False, False]


@pytest.mark.parametrize("loss", ["squared_error", "huber", "log_loss"])
def test_with_full_refits_the_models_are_those_of_factors_that_are_not_deflated(loss: str) -> None:
    """With uᵀT = 0 both ways have factors of the same span, in another basis of it."""
    X, y = data_of(loss)
    deflated, plain = exact(loss, 4).fit(X, y), exact(loss, 4, deflate=False).fit(X, y)
    np.testing.assert_allclose(outputs(plain, X), outputs(deflated, X), atol=1e-7)
    np.testing.assert_allclose(plain.coef_, deflated.coef_, atol=1e-7)
    angles = plain.x_scores_.T @ plain.x_scores_
    np.testing.assert_allclose(np.diag(angles), 1.0, atol=1e-12)
    assert np.abs(angles - np.eye(4)).max() > 1e-2


def printed(
    loss: str, X: np.ndarray, y: np.ndarray, gamma: np.ndarray, count: int, damping: float
) -> tuple[np.ndarray, np.ndarray]:
    """[M] Algorithm 3 with sections 6.2 and 6.3: T, and f, by one step of eq. 42 a round."""
    mu = 0.5 * np.log(gamma[y > 0].sum() / gamma[y < 0].sum())
    D, coef, deflated = np.ones((len(y), 1)), np.array([mu]), X - X.mean(axis=0)

    def pieces(f: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        if loss == "log_loss":
            value = float(gamma @ np.log1p(np.exp(-2 * y * f)))
            return value, gamma * (y - np.tanh(f)), gamma / np.cosh(f) ** 2
        d = gamma * np.exp(-y * f)
        return float(d.sum()), d * y, d

    for _ in range(count):
        _, u, _ = pieces(D @ coef)
        t = deflated @ (deflated.T @ u)
        t /= np.linalg.norm(t)
        deflated = deflated - np.outer(t, t @ deflated)
        D, coef = np.column_stack([D, t]), np.append(coef, 0.0)
        before, r, d = pieces(D @ coef)
        H = D.T @ (d[:, None] * D)
        modified = (1 - damping) * H + damping * np.trace(H) / len(H) * np.eye(len(H))
        step = np.linalg.solve(modified, D.T @ r)
        assert pieces(D @ (coef + step))[0] <= before  # full steps here, as in the model
        coef = coef + step
    return D[:, 1:], D @ coef


@pytest.mark.parametrize("damping", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("loss", CLASSES)
def test_models_are_those_of_the_printed_algorithm(loss: str, damping: float) -> None:
    """With weights in the loss alone, and a constant column of ones in eq. 42."""
    X, y = overlapping()
    gamma = np.random.default_rng(0).uniform(0.2, 2.0, len(y))
    T, f = printed(loss, X, 2.0 * y - 1.0, gamma, 4, damping)
    model = BLFClassifier(4, loss=loss, newton_damping=damping, to_the_letter=True)
    model.fit(X, y, sample_weight=gamma)
    np.testing.assert_allclose(model.x_scores_, T, atol=1e-8)
    np.testing.assert_allclose(model.decision_function(X), f, atol=1e-8)


def test_weights_count_in_the_loss_alone() -> None:
    """TᵀT = I; with full refits the models of both ways are the same all the same.

    After these Σu = 0 and uᵀT = 0, so that factors span the same; after single steps not.
    """
    X, y = noisy_line()
    weights = np.random.default_rng(0).uniform(0.2, 2.0, len(y))
    for loss in ("squared_error", "absolute_error", "huber"):
        for count in (2, 6):
            letter = BLFRegressor(count, loss=loss, to_the_letter=True).fit(X, y, weights)
            ours = BLFRegressor(count, loss=loss).fit(X, y, weights)
            T = letter.x_scores_
            np.testing.assert_allclose(T.T @ T, np.eye(count), atol=1e-8)
            assert letter.objective_ == pytest.approx(ours.objective_, rel=1e-8)
            np.testing.assert_allclose(letter.predict(X), ours.predict(X), atol=1e-7)
    X, y = overlapping()
    weights = np.random.default_rng(0).uniform(0.2, 2.0, len(y))
    f, g = (
        BLFClassifier(3, to_the_letter=way).fit(X, y, weights).decision_function(X)
        for way in (True, False)
    )
    assert not np.allclose(f, g, atol=1e-3)
