"""The words of the page."""

from __future__ import annotations

PAGE = """\
# Odd against even: MNIST with a mixture of kernels

The study of Bi, Zhang and Bennett (*Column-Generation Boosting Methods for Mixture of Kernels*,
KDD 2004, section 5), whole, and the paper's figures beside ours. 1000 training, 2000 validation
and 10000 test images, mutually exclusive, are drawn at random from the 60000 training images of
MNIST; five such splits, mean ± standard deviation. A linear (L), a quadratic (Q) and an RBF
kernel (R) with the paper's width; "+" is a composite kernel, the sum of its parts (μ = 1), "," a
mixture, in which every kernel has its own columns. Weights α and offset are free, C is chosen on
the validation set.

{made}

## Table 1

![test error and prediction time of every library, the paper's beside them](mnist_table.png)

Errors are in percent, times in CPU seconds of one core (training: the chosen C; prediction: the
10000 test images). A composite column counts for each of its kernels, as in the paper. "gap" is
the largest relative duality gap of the five models: the proven distance to the optimum over all
columns, 1000 for each kernel of a mixture. Where C is a list, splits chose differently.

### 2-norm, solved to a certified optimum

{l2_certified}

### 2-norm, stopped where the validation error was lowest

{l2_stopped}

### 1-norm, solved to a certified optimum

{l1_certified}

### 1-norm, stopped where the validation error was lowest

{l1_stopped}

### Does the mixture win?

**Test error**

{errors}

**Prediction time**, against the composites with an RBF part

{times}

{reading}

### The order of priority

The rows above have all columns priced at once. In the paper's order, columns at rows with errors
and columns of simple kernels come first ("stratified"):

{orders}

The certified optimum is the same, whatever the order. In the stratified order the fits took
{slower} times as long. The paper's stratified process scores {scored} columns a round, where a full
scan scores 3000.

## Figure 1

![Regular against stratified, and validation curves](mnist.png)

Left and middle (the first split, 1-norm, C = {priority_C}, one column a round, as in the paper).
{priorities}

Right (1-norm, 5 columns a round; the ring is the round that early stopping keeps, the dashed line
where it ends). {validation} One sees that a C is too large while columns are still being
generated, and may stop without solving to the end.

## What to read from it

- **Certified means certified**: the largest gap of all certified rows is {gap}. The gaps of the
  others are wide because they were stopped on purpose.
- **The 1-norm is the sparse one.** The 2-norm optimum is dense by nature (α_j = r·h_j is nonzero
  for almost every column), here as in the paper's rows L, R, L+R and L+Q+R; its sparse models
  come from early stopping.
- **Stratification saves scores, not time.** Scoring is cheap here; with 1000 rows the master
  takes most of the time, and the best of all columns is a better column than the best of the
  first stratum, so that fewer rounds are needed. `priority="full"` is therefore the default. Use
  `"stratified"` where simple kernels are preferred, or where a pass over all columns takes longer
  than the rounds that it saves.

## Where we differ from the paper, and why

- *Test errors are far below the paper's*, in every row. Kernels are cosine-normalised here
  (`normalize=True`), pixels are scaled to [0, 1], and problems are solved to a proven gap; the
  paper does not say how its kernels were scaled. An unscaled quadratic kernel of 784 pixels is
  thousands of times larger than an RBF, so that the same C cannot suit both, which would explain
  its 1-norm row R, 38.8 % with 7 columns.
- *The best single kernel is Q*, not L: the paper's Q and R rows look as if their C was far from
  the best.
- *The paper's 2-norm mixture is sparse* (122 / 20 / 13 columns) while its own L, R and composites
  are dense: its mixture was stopped early, or α ≥ 0 was asked for there. We give both: certified,
  and stopped.
- *Figure 1 (top)*: in the paper the regular process needs more columns than the stratified one.
  We see the opposite: the best of all 3000 columns is a better column, so that regular column
  generation needs fewer.
- *Times* are not comparable in themselves, twenty years and a commercial solver apart; their
  ratios are.
"""

READING = """
The mixture is better than every composite and than L and R alone, with both norms. *Q alone is
its equal*, and a little better where all columns are used: their means are closer than the splits
are to each other. Normalised, the quadratic kernel is the right one for these images, and the
mixture finds that out by itself, as the columns of its 1-norm rows show; what L and R add is
within chance. In the paper the mixture is ahead of every single kernel by two points and more,
because each of them does badly there (below, where we differ). What remains of the claim: a
mixture asks for no choice of a kernel, and costs nothing against the best choice; a composite,
which gives all kernels the same centres and weights, does cost something.

*Prediction* is not what it was. In the paper an RBF column takes thousands of times as long as a
linear one, so that a mixture with few of them wins by factors of 8 and 66. Here all columns share
one product of the images with their centres, in which an RBF value costs little more than any
other, linear columns collapse into one vector, and the time goes with the number of different
centres. A mixture that was stopped has about as many of them as a composite, and takes about as
long. Where all columns are used, each of the 1000 images is a centre for everybody, and the
mixture has three columns there where a composite has one.
"""
