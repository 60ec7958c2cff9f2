"""The words of the page, around the tables and sentences that are made of the records."""

PAGE = """\
# Beside the alternatives

{overall}

This page says when to use which. What cgboost has and the others have not: boosting over
libraries of kernels, and a *certificate*, a proven distance between the model and the best one that
the same problem has.

    python -m pip install -r benchmarks/peers/requirements.txt
    python benchmarks/peers --data DATA

wrote this page, the picture and the records behind them ([fits](peers.csv),
[classes](peers.classes.csv)) with {seeds}:
{n_fits} fits in {minutes} CPU minutes, and {check_minutes} CPU minutes of `check_estimator`.
{made}.
The command measures seeds 0 to 4 unless told otherwise, and goes on where the records end.

## When to use what

{advice}

![Scores and times](peers.png)

*Mean test scores, with bars for the standard deviation over the seeds, and median times to fit.*

## How it was measured

* Every class of a task gets the same training, validation and test rows, drawn anew for each seed.
* Every class may try at most six candidates (C, depth, rounds, kernels, …, all of them in
  [the records](peers.csv)); the validation rows choose. EBM tries two (without pairs of features,
  and with them) and pygam's classifier three, since their fits are long; EBM also has two bags in
  place of fourteen, and its classifier larger steps. colboost has its default stopping rules (no
  gain in training accuracy over five rounds; no learner better than those it has) and at most 200
  rounds: each of its rounds builds the whole program anew, and so takes longer than the one before.
  Those of its formulations that are too large for its licence are tried once.
* Not every class is in every task. EBM and pygam draw a curve of every feature, which says little
  of pixels; SVC is not for categories; colboost's size-limited licence is too small for the rows of
  Adult; ikpls and PLSRegression predict numbers.
* Times are CPU seconds of the process, all its threads together, and every class was told to use
  one thread. They are those of the chosen candidate, medians over the seeds. The classes take
  turns: first candidates of all, second candidates of all, … The machine was not ours alone, and
  what else runs slows the CPU a little too, so read the ratios. "All candidates" is the cost of the
  choice.
* Scores are means ± standard deviations over the seeds, of the test rows. Names in bold are ours.
* "Certificate": the largest relative gap over the seeds that the fit has *proven* for its training
  problem; rounding errors count as 1e-09. "None" is no reproach: greedy methods have no such thing,
  and a solver that is exact (as in SVC) does not tell.

## Scores, times, sizes

{tasks}

## Latent factors

One model, no choice to make: nothing is validated, and all classes have the same number of factors.

{latent}

## LPBoost and colboost: the same program

[colboost](lpboost.md#formulations) states LPBoost with C, and CG-Boost over weak learners, as we
do, so that their objectives can be compared (the others are stated differently, see there). "All
stumps" prices every threshold exactly, so that its objective is the optimum, up to the gap; "CART
stumps" are colboost's learners: trees of depth 1 fitted to the weighted rows, which need not be the
stumps that help most.

{programs}

{program_words}

The rows that are left are the test. Objectives and errors are means over the seeds, stumps and
times medians.

Under the 1-norm a run may end when no learner beats the best of those it has, and colboost has this
rule for all its formulations. Under the 2-norm every learner with any edge lowers the objective, so
that this rule ends a run too early.

## What did not run

{errors}

"Model too large" is Gurobi's size-limited licence, the one that comes with `gurobipy`: 2000
variables and 2000 rows, and 200 variables where anything is quadratic. colboost's `lp_boost` has
one variable and one row for each training row, which fits; its `nm_boost` has two, and the other
formulations are quadratic.

## Packages and classes

As the metadata of the installed packages has them. colboost itself is free software; gurobipy,
without which it does nothing, is not. interpret-core (EBM) names no licence there; its repository
has the MIT licence.

{packages}

scikit-learn's `check_estimator` on each class with its default parameters, in a process of its own
with a limit of {limit} CPU seconds; skipped checks are not counted. A class can fail checks and
serve well: they are about fitting into pipelines and searches.{weights}

{classes}
"""

WEIGHTS_CHECK = "check_sample_weight_equivalence_on_dense_data"
WEIGHTS = """ That a row of weight 2 is the
same as the row twice does not hold over kernels, where a row of weight 0 still offers its columns,
nor in trees that break ties by rounding, nor in transform regression and its parts while they hold
rows out: a row of weight 2 is held out whole, of two equal rows each by itself."""
