"""When to use what: sentences that look their numbers up in the records.

Whether a sentence says that a peer or that cgboost is ahead is decided by the numbers too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import isfinite

from fits import Summary
from peers_numbers import Found, is_ours, listed, number, pick, ranked, seconds, short
from peers_verdict import CLOSE

PROOF = " **A proof of how good the fit is:** both norms have one."
SMALL = (("boston", "Boston housing"), ("diabetes", "diabetes"))


def advice(found: Found) -> Iterator[str]:
    """When to use what; what was not measured is not spoken of."""
    makers = (kernel_machines, stumps, tables, to_be_read, small_tables, factors, programs)
    for maker in makers:
        yield from maker(found)


def kernel_machines(found: Found) -> Iterator[str]:
    """The SVC and the two norms."""
    names = ("SVC, RBF", "CGBoostClassifier, 2-norm", "CGBoostClassifier, 1-norm")
    if chosen := pick(found, "digits", *names):
        svc, two, one = chosen
        best = ranked((two, one))[0]
        wins = svc.mean("test") < best.mean("test")
        use = "use the SVC" if wins else "the SVC is no better"
        yield (
            f"**Images, kernels, accuracy alone: {use}.** It errs on {number(svc)} % of the digits "
            f"and is fitted in {seconds(svc)}; {best.model}, errs on {number(best)} % after "
            f"{seconds(best)}."
        )
        sizes = [own.median("size") for own in chosen]
        clocks = [1000 * own.median("predict_seconds") for own in chosen]
        small = sizes[2] < sizes[0] and clocks[2] < clocks[0]
        use = "use the 1-norm" if small else "the 1-norm does not help here"
        code = sizes[1] > sizes[0] and clocks[1] < clocks[0]
        proven = all(isfinite(fit.gap) for own in (two, one) for fit in own.fits)
        yield (
            f"**A small, fast model: {use}.** It has {sizes[2]:.0f} columns where the SVC has "
            f"{sizes[0]:.0f} support vectors, and predicts the test images in {clocks[2]:.0f} ms "
            f"(SVC: {clocks[0]:.0f} ms; the 2-norm with {sizes[1]:.0f} columns: {clocks[1]:.0f} "
            f"ms{', so the code counts as well as the columns' if code else ''}). It errs on "
            f"{number(one)} %.{PROOF if proven else ''}"
        )


def stumps(found: Found) -> Iterator[str]:
    """AdaBoost here and in scikit-learn."""
    names = ("AdaBoostClassifier", "AdaBoostClassifier of scikit-learn")
    parts, ratios = [], []
    for task, title in (("digits", "digits, error"), ("adult", "Adult, AUC")):
        if chosen := pick(found, task, *names):
            ours, theirs = chosen
            ratios.append(theirs.total_seconds / ours.total_seconds)
            leader = ranked(chosen, task == "adult")[0]
            whose = "ours" if leader is ours else "scikit-learn's"
            parts.append(
                f"{title}: ours {number(ours)} %, scikit-learn's {number(theirs)} %, so {whose} is "
                "the better"
            )
    if parts:
        faster = "ours is the faster" if min(ratios) > 1 else "scikit-learn's can be the faster"
        factors = listed([short(max(r, 1 / r)) for r in ratios])
        yield (
            f"**AdaBoost over stumps: {faster}**, by a factor {factors} over all numbers of "
            f"rounds. {'. '.join(parts)}."
        )


def tables(found: Found) -> Iterator[str]:
    """Histogram boosting against everything of ours on Adult."""
    names = ("LGBMClassifier", "HistGradientBoostingClassifier")
    ours = [own for own in found.get("adult", {}).values() if is_ours(own.model)]
    if (chosen := pick(found, "adult", *names)) and (order := ranked(ours, True)):
        peer, best = ranked(chosen, True)[0], order[0]
        wins = peer.mean("test") > best.mean("test")
        fast = peer.median("fit_seconds") < best.median("fit_seconds")
        use = "use histogram boosting" if wins or fast else "ours will do"
        yield (
            f"**Tables with categories: {use}.** On Adult {peer.model} has an AUC of "
            f"{number(peer)} % after {seconds(peer)}, our best, {best.model}, {number(best)} % "
            f"after {seconds(best)}. Our gradient boosting is here for its losses and its K "
            "classes, not for speed."
        )


def to_be_read(found: Found) -> Iterator[str]:
    """Models of few terms: two peers and ours."""
    cases = (
        ("adult", "Adult, AUC in %", ("ExplainableBoosting", "LogisticGAM", "Transform")),
        ("boston", "Boston housing, RMSE", ("ExplainableBoosting", "LinearGAM", "Additive")),
        ("diabetes", "diabetes, RMSE", ("ExplainableBoosting", "LinearGAM", "Additive")),
    )
    best: dict[str, None] = {}
    parts = []
    for task, title, stems in cases:
        end = "Classifier" if task == "adult" else "Regressor"
        names = [stem if stem.endswith("GAM") else stem + end for stem in stems]
        if chosen := pick(found, task, *names):
            best[("EBM", "pygam", "ours")[chosen.index(ranked(chosen, task == "adult")[0])]] = None
            numbers = (f"{own.model} {number(own)} after {seconds(own)}" for own in chosen)
            parts.append(f"{title}: {', '.join(numbers)}")
    if parts:
        yield (
            f"**A model to be read, curve by curve: use {listed(list(best), 'or')}.** "
            f"{'; '.join(parts)}. "
            "EBM had two bags; by default it has fourteen, and takes longer."
        )


def small_tables(found: Found) -> Iterator[str]:
    """Regression with a few hundred rows."""
    leaders, parts, pairs, close = [], [], 0, 0
    for task, title in SMALL:
        order = ranked(found.get(task, {}).values())
        ours = [place for place, own in enumerate(order) if is_ours(own.model)]
        if ours and len(ours) < len(order):
            leaders.append(order[0].model)
            best = order[ours[0]]
            parts.append(
                f"on {title} {order[0].model} is first ({number(order[0])}), the best of ours is "
                f"at place {ours[0] + 1} of {len(order)} ({best.model}, {number(best)})"
            )
            spread = [own for own in order if len(own.fits) > 1]
            pairs += len(spread) * (len(spread) - 1) // 2
            close += sum(near(*pair) for pair in combinations(spread, 2))
    if parts:
        peers = not any(map(is_ours, leaders))
        use = f"use {listed(list(dict.fromkeys(leaders)), 'or')}" if peers else "try several"
        spread_words = (
            f" In {close} of {pairs} pairs of classes the means differ by less than the spread "
            "over the seeds of one of the two."
        )
        yield (
            f"**A few hundred rows of numbers: {use}.** Of the test errors, {'; '.join(parts)}."
            f"{spread_words if pairs else ' From one seed: take it as a hint.'}"
        )


def near(first: Summary, second: Summary) -> bool:
    """Whether the means differ by less than the larger spread."""
    difference = abs(first.mean("test") - second.mean("test"))
    return difference < max(first.spread("test"), second.spread("test"))


def factors(found: Found) -> Iterator[str]:
    """Partial least squares, by the shape of the rows."""
    names = ("BLFRegressor", "PLSRegression", "ikpls PLS, algorithm 1", "ikpls PLS, algorithm 2")
    parts, differences = [], []
    for task in (name for name in found if name.startswith("latent")):
        if chosen := pick(found, task, *names):
            *slow, first, second = chosen
            own = [*slow, min(first, second, key=lambda s: s.median("fit_seconds"))]
            parts.append(f"{task.removeprefix('latent ').replace('x', '×')}: {quickest(own)}")
            differences += [fit.compared for model in chosen for fit in model.fits]
    if parts:
        yield (
            "**Partial least squares, squared loss: all give the same model** (coefficients "
            f"within {max(differences):.0e} of the largest); what differs is time. "
            f"{'; '.join(parts)}. ikpls stands for the better of its two algorithms. Another "
            "loss, a kernel or sparse rows: BLF."
        )


def quickest(own: Sequence[Summary]) -> str:
    """Times of the three packages, and whom to use."""
    names = dict(zip(("BLF", "PLSRegression", "ikpls"), own, strict=True))
    clocks = {name: 1000 * s.median("fit_seconds") for name, s in names.items()}
    best = [name for name, clock in clocks.items() if clock < CLOSE * min(clocks.values())]
    words = ", ".join(f"{name} {clock:.0f} ms" for name, clock in clocks.items())
    return f"{words}, so use {listed(best, 'or')}"


def programs(found: Found) -> Iterator[str]:
    """LPBoost and CG-Boost against colboost."""
    names = ("LPBoostClassifier, all stumps", "LPBoostClassifier, CART stumps")
    lines, ahead, errs_less = [], [], 0
    for task in (name for name in found if name.startswith(("lp ", "qp "))):
        theirs = f"colboost {'lp_boost' if task.startswith('lp') else 'cg_boost'}"
        if chosen := pick(found, task, *names, theirs):
            exact, _, peer = chosen
            times = peer.mean("compared") / exact.mean("compared")
            ratio = peer.median("fit_seconds") / exact.median("fit_seconds")
            above = f"{short(100 * times - 100)} % above" if times < 2 else f"{short(times)} times"
            ahead.append(times > 1)
            errs_less += peer.mean("test") < exact.mean("test")
            lines.append(f"{task}: {above} the certified optimum in {short(ratio)} times our time")
    if lines:
        use = "use ours for the optimum" if all(ahead) else "ours is not always the lower"
        yield (
            f"**The same boosting program: {use}, colboost for formulations as their authors wrote "
            "them.** colboost needs Gurobi, which without a paid or academic licence stops at 2000 "
            "variables or rows, and at 200 variables with a quadratic term. Its objective: "
            f"{'; '.join(lines)}. A lower objective is no promise of a lower test error: "
            f"colboost's is below that of ours over all stumps on {errs_less} of {len(lines)}."
        )
