"""Check a certificate of an optimum in fractions: python check_certificate.py proof.json data.csv.

fit      unit * (sum of losses of y - f, plus the penalty of w), f = Xw + b; a loss is the largest
         r (y - f) - free |r| - bend r^2 / 2 with low <= r <= high: any such r gives a bound
packing  bins of items; a tree over pairs of items, in one bin or in two, with prices at its leaves
"""

import json
import sys
from fractions import Fraction
from hashlib import sha256

import numpy as np

CELLS, GRID = 2000 * 2001, 2**300  # larger tables are sampled; sums are of multiples of 1/GRID
BOXES = {  # low, high, free, bend for a parameter a, the cost c of a row and its y
    "squared_error": lambda a, c, y: (-np.inf, np.inf, 0, 1 / c),
    "absolute_error": lambda a, c, y: (-c, c, 0, 0),
    "quantile": lambda a, c, y: ((a - 1) * c, a * c, 0, 0),
    "epsilon_insensitive": lambda a, c, y: (-c, c, a, 0),
    "squared_epsilon_insensitive": lambda a, c, y: (-np.inf, np.inf, a, 1 / (2 * c)),
    "huber": lambda a, c, y: (-a * c, a * c, 0, 1 / c),
    "hinge": lambda a, c, y: (min(0, c * y), max(0, c * y), 0, 0),
    "squared_hinge": lambda a, c, y: (min(0, np.inf * y), max(0, np.inf * y), 0, 1 / (2 * c)),
    "at_least": lambda a, c, y: (0, np.inf, 0, 0),  # f >= y, or the loss is infinite
}
HID = "claims kind data objective bound gap response scores w solution tree seal"


def demand(true, why):
    if not true:
        raise ValueError(why)


def floor(terms):  # a sum, each term rounded down
    return Fraction(sum(Fraction(x) * GRID // 1 for x in terms), GRID)


def whole(numbers):  # integers m and bits: the numbers are m / 2**bits
    pairs = [x.as_integer_ratio() for x in numbers]
    bits = max((d.bit_length() - 1 for _, d in pairs), default=0)
    return [n << bits + 1 - d.bit_length() for n, d in pairs], bits


def loss(d, low, high, free, bend):
    size = max(abs(d) - free, 0) * (1 if d > 0 else -1)
    r = min(max(size / bend, low), high) if bend else high if size > 0 else low if size < 0 else 0
    return r * d - free * abs(r) - bend * r * r / 2


def check_fit(fit, table):
    (*X, y), n, p = map(list, zip(*table)), len(table), len(table[0]) - 1
    checked = {*np.random.default_rng().permutation(p)[: max(1, CELLS // n)].tolist()}
    X += [[float(fit["scale"])] * n] * (fit["intercept"] == "charged")
    y = [Fraction(fit["labels"][str(x)] if fit["labels"] else x) for x in y]
    R, r_bits, w, most, v, c = *fit["response"], *map(fit.get, ("w", "scores", "weights", "costs"))
    a, b, share = Fraction(fit["parameter"]), Fraction(fit["b"]), Fraction(fit["l1_share"])
    demand({*y} <= {1, -1} or not (fit["labels"] or "hinge" in fit["loss"]), "labels are 1 and -1")
    demand(len(R) == len(c) == n and len(w) == len(most) == len(v) == len(X), "lengths differ")
    demand(sum(R) == 0 if fit["intercept"] == "free" else b == 0, "the intercept has no price")
    demand(min(a, *c, *v, share, 1 - share) >= 0 < fit["unit"], "a price is negative")
    demand(min(c) > 0 or (max(c) > 0 and fit["loss"] != "at_least"), "a row has no cost")
    demand(min(w) >= 0 or not fit["positive"], "a coefficient is negative")
    used = [j for j in range(len(X)) if w[j] or j in checked or j >= p or (fit["kernel"] and R[j])]
    numbers, x_bits = whole([x for j in used for x in X[j]])
    (W, w_bits), f, scores = whole(w), [0] * n, {}
    for k, j in enumerate(used):
        column = numbers[k * n : (k + 1) * n]
        f = [out + W[j] * x for out, x in zip(f, column)] if W[j] else f
        scores[j] = Fraction(sum(map(int.__mul__, column, R)), 1 << x_bits + r_bits)
        size = scores[j] if fit["positive"] else abs(scores[j])
        demand(size <= most[j], f"the score of feature {j} is above its stated maximum")
    f = [Fraction(x, 1 << x_bits + w_bits) for x in f]
    sizes = [Fraction(s) / Fraction(weight) for s, weight in zip(most, v)]
    longest = max(1, *sizes) if share == 1 else 1  # r is scaled until no score is too large
    r = [Fraction(x, 1 << r_bits) / longest for x in R]
    boxes = [BOXES[fit["loss"]](a, Fraction(x), t) if x else (0,) * 4 for x, t in zip(c, y)]
    demand(all(k[0] <= min(x, 0) <= max(x, 0) <= k[1] for x, k in zip(r, boxes)), "r is outside")
    losses = floor(-loss(t - z - b, *box) for t, z, box in zip(y, f, boxes))
    gain = floor(x * t - box[2] * abs(x) - box[3] * x * x / 2 for x, t, box in zip(r, y, boxes))
    if fit["kernel"]:  # X is its matrix, the penalty is half the squared norm of f in its space
        demand([*map(list, zip(*X))] == X, "no matrix of a kernel")
        penalty = floor(-Fraction(x) * z / 2 for x, z in zip(w, f))
        charge = floor(-r[j] * s / 2 for j, s in scores.items())
    else:  # share v |w| + (1 - share) (v w)^2 / 2
        u = [Fraction(x) * Fraction(weight) for x, weight in zip(w, v)]
        penalty = floor(-share * abs(x) - (1 - share) * x * x / 2 for x in u)
        charge = floor(-(max(x - share, 0) ** 2) / (1 - share) / 2 for x in sizes if share < 1)
    objective, bound = (Fraction(fit["unit"]) * x for x in (-losses - penalty, gain + charge))
    if fit["whole"]:  # amounts and costs are, so that no solution is between the bound and this
        demand(fit["loss"] == "at_least" and share == 1 and not fit["kernel"], "no sum of costs")
        demand(all(x % 1 == 0 for x in [*w, *v, fit["unit"]]), "an amount or a cost is not whole")
        bound = -(-bound // 1)
    return objective, max(bound, 0)


def prove(node, groups, apart, proof, table):  # groups of items: their numbers, size and times
    if "pair" in node:
        one, two = (next(g for g in groups if k in g[0]) for k in node["pair"])
        demand(one is not two and one[2] == two[2] == 1, "a pair must be of single items")
        both = (one[0] | two[0], one[1] + two[1], 1)
        if both[1] <= proof["capacity"] and not any({*pair} <= both[0] for pair in apart):
            others = [g for g in groups if g not in (one, two)]
            prove(node["one"], [*others, both], apart, proof, table)
        return prove(node["two"], groups, [*apart, node["pair"]], proof, table)
    prices, best = [*map(int, node["prices"])], np.zeros(proof["capacity"] + 1, dtype=object)
    for items, size, times in groups:
        for _ in range(min(times, proof["capacity"] // size)):
            more = best[: len(best) - size] + sum(prices[k] for k in items)
            best[size:] = np.maximum(best[size:], more)
    if best[-1] * (int(proof["bound"]) - 1) >= sum(x * int(k[1]) for x, k in zip(prices, table)):
        demand(apart, "the prices at a leaf do not prove the bound")
        for k in apart[0]:  # no bin has both
            prove(node, [g for g in groups if k not in g[0]], apart[1:], proof, table)


def check_packing(proof, table):  # rows of the table: the size of an item, and how many there are
    items, bins = [({k}, *map(int, row)) for k, row in enumerate(table)], proof["solution"]
    every = [k for k, (_, _, times) in enumerate(items) for _ in range(times)]
    demand(all([*own[1:]] == row and min(own[1:]) > 0 for own, row in zip(items, table)), "sizes")
    fullest = max(sum(items[k][1] for k in own) for own in bins)
    demand(sorted(sum(bins, [])) == every and fullest <= proof["capacity"], "this is no packing")
    prove(proof["tree"], items, [], proof, table)
    return len(bins), int(proof["bound"])


def main(proof_file, data_file):
    body, seal = open(proof_file, encoding="utf-8").read().split('"seal": ')
    demand(seal == f'"{sha256(body.encode()).hexdigest()}"}}\n', "the file was changed")
    once = {"object_pairs_hook": lambda own: dict(own) if len({*dict(own)}) == len(own) else None}
    proof, csv = json.loads(f'{body}"seal": {seal}', **once), {"delimiter": ",", "skiprows": 1}
    data = np.load(data_file) if data_file[-4:] == ".npy" else np.loadtxt(data_file, ndmin=2, **csv)
    same = data.dtype == "<f8" and sha256(data.tobytes()).hexdigest() == proof["data"]
    demand(same, "other data: features in their order, y last, a line of names, all digits")
    stated = [x for x in map(proof.get, ("objective", "bound", "gap")) if type(x) in (int, float)]
    check = check_fit if proof["kind"] == "fit" else check_packing
    objective, bound = check(proof, data.tolist())
    high, low, gap = map(Fraction, stated)
    true = low <= bound and objective <= high and high - low <= gap * abs(high)
    demand(true, f"proved are only {float(objective)} and {float(bound)}")
    told = {k: (min(x), max(x)) if type(x) is list else x for k, x in proof.items() if k not in HID}
    print("A SAMPLE of the features is checked. " * (data.size > CELLS) + repr(proof["claims"]))
    print(f"VERIFIED: objective <= {stated[0]}, bound >= {stated[1]}; {data.shape}, {told}")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Exception as error:
        sys.exit(f"REFUSED: {error}")
