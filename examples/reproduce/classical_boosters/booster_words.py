"""What the page says around its tables."""

from __future__ import annotations

PAGE = """\
# The classical boosters on data

Boosting adds up many simple models, each made to mend what those before it got wrong. Lecture
notes on boosting derive several such methods from one idea. They show no results; this page runs
the methods on data, and puts numbers to what the notes say. The methods themselves, and how to use
them, are explained in their own pages: [AdaBoost](adaboost.md),
[gradient boosting](gradient_boosting.md), [L2-Boosting](l2boost.md) and the
[orthogonal greedy algorithm](orthogonal_greedy.md).

{made}

All numbers are mean ± standard deviation over the seeds.

## AdaBoost: errors, their bound, and the weights

Every round of AdaBoost asks one question of one pixel (is it darker than so much?), chosen so that
the answers are right on as much *weight* as possible. Then rows with a wrong answer become heavier
and the others lighter: the next question is about what is still wrong. Here 3000 images of MNIST,
odd digits against even ones; the test set is MNIST's 10000 images.

{adaboost}

The columns are rounds. The *bound* is the mean of e^(−y f), which is what AdaBoost lowers; no row
that is wrong counts less than 1 in it, so that it lies above the training error. *Heaviest 1%* is
the share of the weight on that part of the rows, and *effective rows* are 1/Σw², in per cent of
all rows: 100 where all weigh alike.

![Errors, bound and weights of AdaBoost](classical_adaboost.png)

Left: {boosted}. Middle and right: the weight moves to fewer and fewer rows. In the right panel a
straight diagonal would mean that all rows weigh alike.

![The heaviest images](classical_hardest.png)

The twelve heaviest training images after 10, 100 and 400 rounds (first seed): the digit, and how
many times the mean weight. Most of them one reads at once: they are hard for questions about single
pixels, not for the eye.

## Ten digits: K-class gradient boosting

For ten classes every round grows ten small regression trees, one a class, fitted to how far the
probability of the class is from what it should be. *8×8* are the 1797 digits of scikit-learn, 30 %
held out; *28×28* are 3000 images of MNIST and its 10000 test images. Trees of depth 3. Test errors
in per cent after 1, 3, 10, 30 and 100 rounds:

{digits}

![Errors by round, and importances of pixels](classical_digits.png)

Above: thin lines are draws, thick ones their medians. Below: how much each pixel matters (the
square root, dark where it does), over all classes and for each digit. A pixel matters for a digit
if asking about it tells this digit from the others: the images show where a digit has ink that
others do not have, or lacks ink that others have. Corners hardly matter: the four together have
{corners} (one pixel each, and 4×4).

* **Full steps, or a tenth of them.** The notes write the algorithm with full steps: a leaf whose
  rows are nearly certain divides by a number near 0, and takes a huge step. After the last round
  {full_steps}.
* scikit-learn's `GradientBoostingClassifier` has the same algorithm, from another start;
  {theirs}.

## Which features matter? Greedy methods and the lasso

Often there are more features than rows, few of which matter, and the question is which. L2-Boosting
adds a little of the best feature, again and again. The *orthogonal greedy algorithm* (OGA) adds a
feature and refits all of them, so that none comes twice; a criterion that charges for every feature
(HDIC; with the constant log n it is called HDBIC) says where to stop, and *trimming* takes out what
is no longer needed at the end. The lasso bounds the sum of the coefficients.

Ten true features in three designs, noise of variance 1:

* **independent**: all features independent, coefficients ±1;
* **alike**: any two features correlate by 0.8, coefficients ±1;
* **decoys**: features that do *not* matter correlate by 0.87 with the sum of the true ones, while
  each true one correlates by 0.32 with it; coefficients 3, 3.75, …, 9.75. The first feature that
  any greedy method takes is wrong.

In how many of {draws} draws a method finds exactly the true features, the most in bold:

{support}

![Share of draws with exactly the true features](classical_support.png)

Each panel is a design with a number of features; from left to right there are more rows. 100 %: the
method found exactly the true features in every draw. There are {draws} draws of each design and
size, to save time, so that these shares are coarse; those of the next table have nine times as
many.

All sizes together:

{totals}

* **Decoys need trimming.** The greedy algorithm takes some decoys first; the true features follow,
  and once they are all there the decoys can be spared. Exactly right among decoys:
  {decoys}.
* **Trimming**, exactly right: {trimming}.
* **L2-Boosting** among decoys: {stopped}.
  A small step along a new feature costs the criterion a whole feature, and a decoy that has come
  never leaves.
* **The lasso** with the penalty that predicts best chooses many others beside the true features:
  the best penalty for prediction is too little for selection. Where features are independent,
  {lasso}.
  Exactly right over all designs: {lasso_exact}.
* **Rows.** Most often exactly right, decoys apart, with {few_rows}.
* **The constant.** HDIC with C = 2.01 charges less than HDBIC. Exactly right, HDIC and HDBIC:
  {constant}.

## What the notes say, in numbers

{statements}

The last two rows: 200 rows, 500 independent features that were stretched by random factors between
e⁻² and e², ten of them true. Stretching a feature changes nothing about what it can explain.

## Where we differ from the notes, and why

* **The norm is not squared.** The notes derive the first of the two rules in the table above and
  print the second in both listings. The second prefers features that happen to be small, and finds
  few of the true ones where scales differ. We have the first.
* **Σ f_k = 0 does not hold by itself.** The notes' step for one region shared by all classes keeps
  the sum at 0; their algorithm then grows a tree with regions of its own for each class, and the
  sum drifts. Probabilities do not see it, and we subtract the mean score.
* **Half the step of AdaBoost.** The notes' α is twice our coefficient, as they show themselves:
  our f is half the log-odds. Labels and weights are the same.
* **Start.** Gradient boosting starts from the shares of the classes unless `start="zero"` is asked
  for, as here for the 8×8 digits; the notes start from 0. On MNIST a split looks at 28 pixels,
  drawn anew, to save time.
* **M and C.** The notes leave the number of steps at the order of √(n/log p) and C open. We take
  5√(n/log p) and C = log n (HDBIC), or 2.01 for HDIC.
* **A shrunk step.** L2-Boosting of the notes takes full steps; ours takes a tenth of them unless
  `learning_rate=1` is set.
"""

STATEMENTS = (
    (
        "AdaBoost's weights by step 2(d), w·e^α on wrong rows, are e^(−y f) up to a factor",
        "largest relative difference {off_weights}",
    ),
    (
        "with the best step, the exponential loss is the product of 2√(err(1 − err))",
        "largest relative difference {off_loss}",
    ),
    (
        "the K scores may be kept at Σ f_k = 0",
        "largest sum {off_sum} in our models; {off_trees} in the trees as they come",
    ),
    (
        "L2-Boosting with full steps on orthogonal features is least squares, each feature once",
        "largest difference {off_orthogonal}, {repeats} repeats",
    ),
    (
        "OGA takes arg max of x_j·u/‖x_j‖ (derivation), or of x_j·u/‖x_j‖² (listing)",
        "true features among the first ten: {by_norm} by the first rule, {by_square} by the second",
    ),
    (
        "OGA by a QR decomposition that grows",
        "written out with the first rule, the same first ten features as ours in {same_path} draws",
    ),
)
"""What the notes say, and what was found."""
