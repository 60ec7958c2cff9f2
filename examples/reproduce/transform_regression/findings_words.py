"""What the page says around its tables."""

from __future__ import annotations

PAGE = """\
# Transform regression: the paper's study

The surface and the data sets of Pednault, *Transform Regression and the Kolmogorov Superposition
Theorem*, SDM 2006, with our numbers beside the paper's. What the method is, and how to use it, is
on [its own page](transform_regression.md).

## The paper's surface

    z = x + y + 5 sin(πx/2) sin(πy/2)        −1 ≤ x, y ≤ 1

The equation has lost its symbols in the copies of the paper that can be found; this reading fits
the axes of its figures and the error of the first stage. The grid has step 0.01; the points at
multiples of 0.1 are the test set; of the others a part is held out, at random ({n_seeds} seeds;
the paper does not say how large a part). Root mean square errors on the test set, means over the
seeds; a run that found nothing more stays what it was.

{surface}

The paper prints one number, 0.239 for the initial algorithm after ten stages, and Figure 3d.

![errors by stage](transform_errors.png)

**Transform regression** does what the figure shows: a first stage that is the plane x + y, and
then less error than any other method at every stage.

**The initial algorithm depends on luck after its second stage.** By then it has used up what the
symmetry of the surface offers. What is left over has, on a full grid, no signal along x alone nor
along y alone, so that a third additive model has nothing to find but the accidents of which
points were held out. If an accident passes the holdout rows' test, its sum has a curve, and that
curve finds much; if none does, the run ends near 0.7. {luck} come within a factor 1.5 of the
paper's error (at most {limit}). The paper's run looks like one of those. Orthogonalised and
feed-forward stages do not need luck, since stages that exist can be weighted anew, or be inputs
themselves.

**Plain gradient boosting of additive models** ends after one stage: for squared loss the second
additive model of a residual is nothing new.

![surfaces](transform_surface.png)

Figures 1 and 3 of the paper (seed {picture_seed}, with which the initial
algorithm goes on to ten stages): the target, the initial algorithm, and
transform regression. Errors stage by stage: {picture}.

![views](transform_views.png)

Figure 2: the test points as the first stage of the initial algorithm sees them. Along x and along
y the product looks like noise that grows to both sides; along the sum x + y it has a shape, which
the curve on the sum follows.

## Adult and COIL 2000

Gini coefficients (2·AUC − 1 for a 0/1 target; `cgboost.inspection.metrics.gini_coefficient`) on the
test sets that the data come with; mean ± standard deviation over the seeds of what is held out.
30 % of the training rows are held out, by every model: those of the paper choose leaves, terms and
stages by them, LightGBM and scikit-learn's `HistGradientBoostingClassifier` the number of their
rounds; all are otherwise as they come. The paper's numbers are those of its Table 9.

{gini}

{reading}

![gains](transform_gains.png)

The first stage on Adult; bars are categories. The pieces of the lines are those that the held-out
rows have left.

![functions](transform_functions.png)

## Where we differ from the paper, and why

* *The initial algorithm* ends at twice the paper's error in the mean, and comes near it for some
  ways of holding rows out: after two stages it lives on accidents of the holdout (above).
* *Adult* is easier for every method here than in the paper, by more than any choice of ours moves
  it; what was done with the data there cannot be told.
* *COIL's first stage* is as good as all stages here. In the paper it is the weakest of all columns.
* *Outputs that leaves use are bounded.* A leaf with an earlier output as its regressor is a
  product, and products of products grow without limit on rows unlike the training rows. So a stage
  that later ones use is kept between its extremes on the training rows. The paper has no such
  bound; on the surface it changes the third digit, on an interaction of Gaussian features it
  decides between sense and nonsense.
* *A coefficient must gain more than chance.* It enters a leaf only if it lowers the holdout error
  by four variances of the response. The paper says only that the holdout set chooses.

## Time and memory

`benchmarks/transform_regression.py`: 20 float32 features. Part `rows` reads a Parquet file block
by block, the other parts have their rows in memory; two threads; each fit in a process of its
own, whose peak of memory is given. A stage has one input and one regressor more than the stage
before, so that later stages take longer than the first; the column of CPU seconds a stage is a
mean. Seconds that the clock shows depend on who else uses the cores; these were measured while
others did (see [performance](performance.md) for the quiet machine).

{benchmark}

Time grows in proportion to rows once there are enough of them; below about 10⁵ rows it is merging
that takes the time, which depends on the number of inputs and intervals alone. On cores that
others use too, LightGBM's threads wait for each other and it is slower by far: the ratio means
something on a quiet machine only, and the CPU times are the safer comparison.

## How this page is made

    python examples/reproduce/transform_regression --data DATA
    python benchmarks/transform_regression.py

The results are in [transform_results.csv](transform_results.csv) and
[transform_benchmark.csv](transform_benchmark.csv); the fits of the first took {minutes} minutes
of CPU time on one thread. {machine}. """

READING = """\
**Adult.** The four methods come in the paper's order (transform regression, first stage, tree,
stepwise regression), all of them far above the paper's numbers: even the stepwise linear
regression has a larger Gini coefficient than the paper's transform regression. What the paper did
with these data cannot be told. A coefficient of 0.655 is an AUC of 0.83, where common methods
reach 0.92. Two explanations do not fit: with the numeric columns alone (seed 0) stepwise
regression has 0.627, the first stage 0.699 and transform regression 0.709; and where areas are
not divided by that of a perfect predictor, every coefficient is 0.764 of itself, 0.60 for
stepwise regression and 0.63 for transform regression. LightGBM and scikit-learn are ahead of
transform regression by more than the spread: hundreds of trees find interactions that a few
stages do not.

**COIL.** Only 348 of 5822 rows are positive, a third of which judge, so that the seed matters
more than the method: differences of 0.01 say nothing. Transform regression is where the paper has
it, with the log loss a little above; it is ahead of the single tree, as in the paper, and not
behind LightGBM and scikit-learn. Where we differ from the paper is the first stage, which here is
about as good as all of them: what there is to find in these data is nearly additive. The two
columns that number types of customers are categories for all models; as numbers they cost
transform regression about 0.01. (That was decided after test scores had been seen.)
"""
