"""What the page says around its tables."""

from __future__ import annotations

PAGE = """\
# LogitBoost over lines: MNIST and Dorothea

LogitBoost adds up very simple models, one a round, so that the sum says how likely each class is.
Here a simple model is a straight line in *one* feature: one pixel of an image, or one property of
a molecule. Every round asks of each row how far its present probability is from its label, fits a
line on every feature to that, and keeps the line that lowers the loss most. After 300 rounds there
is one linear model of at most 300 features. [LogitBoost](logitboost.md) explains the method and
how to use it; this page repeats an exercise of a course, which asks for the errors after 10, 30,
100 and 300 rounds and for the curve of the loss.

{made}

## Data

* **MNIST, odd against even**: 784 pixels; "as it comes" all 60000 training and the 10000 test
  images, "drawn" 10000 of the training images and the same test images.
* **Dorothea**: molecules that bind to thrombin or do not, by 100000 yes/no properties, half of
  which were made up by the organisers of a challenge. "As it comes" 800 rows to train and 350 to
  test (labels of the true test set were never given out); "drawn" as many of the same 1150 rows at
  random, with the shares of both classes. Properties that no training row has are left out; in the
  drawn splits those that fewer than 2 % have, to save time.

## Errors and loss by round

Wrong labels in per cent; the loss is the mean of log(1 + e^(−2yf)) over the training rows (0.0000
is less than 0.00005); "features" is how many different ones the lines are on. Mean ± standard
deviation over the seeds where rows were drawn.

{rounds}

![Training loss and errors by round](logitboost_study.png)

Left: the training loss; it falls from each point of the curve to the next in {falls}.
Right: errors. Lines and bands are the drawn splits, dots the split that the data come with.

* **MNIST.** With all 60000 images the test error is {test} after {shown} rounds. Training and
  test error at the end: {last}; with 10000 images {last_drawn}. Logistic regression, which fits
  all 784 pixels at once, has a test error of {logistic} %; LogitBoost has {features} of them in
  its lines.
* **Dorothea.** With more features than rows the training rows are soon all right ({separated}), and
  the loss goes on falling towards 0. The test error has no such fall: it is {dorothea} in the rows
  as they come, {dorothea_drawn} in the drawn ones. The very first line alone has {one_line} %
  and {one_line_drawn} %. Those who watch the training loss would not know when to stop;
  `early_stopping=True` watches held-out rows.

![Coefficients of the pixels](logitboost_study_pixels.png)

The 300 lines of the first row of the table, added up: red pixels speak for an odd digit, blue ones
for an even one, white ones are in no line or weigh little.

## Beside other models

Errors in per cent. "Both classes alike" is the mean of the test errors of the two classes: on
Dorothea, where nine rows in ten have the same label, it is what one should look at. The machine
was busy with other work: the same fit has taken more than twice as many CPU seconds in one run as
in another.

{others}

* **MNIST, drawn.** Lowest test error: {best_images}. A line sees one pixel, a tree of depth 3 up
  to three of them together.
* **Dorothea, drawn.** Fewest wrong labels: {best_wrong}, where always saying "no" has {nothing} %.
  Lowest error of both classes alike: {best_alike}.
* **Trees.** A model has at most 300. Splits of LogitBoost's look at √p of the features, drawn anew,
  to save time; XGBoost's look at all. With full steps LogitBoost has {full_trees}: it ends where
  no new tree lowers the loss. Rows that are nearly certain have tiny weights and huge responses,
  and a leaf of such rows takes a huge step. With the learning rate 0.3 there are {shrunk_trees}.
* Logistic regression is scikit-learn's, with its usual penalty (C = 1), fitted to all features at
  once.

## Beside the course notes

The notes give the algorithm and no figures of their own, so that there is nothing to put beside
the tables. What can be compared is the algorithm: `logit_letter.py` has it as the notes write it,
fitting a line on every feature and evaluating the loss of all of them in every round. On 2000 rows
of MNIST, 30 rounds, ours differs by at most {letter}: rounding.

## Where we differ from the notes, and why

* **Not every loss is evaluated.** A bound says which lines cannot be the best; three or four of
  hundreds are evaluated ([LogitBoost](logitboost.md)). The choice is the same.
* **Sums are those of centred features**, and a feature counts as constant where its weighted
  variance is rounding. The notes ask whether ac − b² is 0, which in floating point it hardly ever
  is.
* **The slides have a sign wrong**, as the notes themselves say: the loss is log(1 + e^(−2yh)),
  without a minus in front. And of their two forms, with and without factors of 2, we have the one
  of the notes and of the original paper: f is half the log-odds. Labels are the same with both.
* **The round with the lowest loss is kept**, should a later one be worse. The notes keep the last.
* **Data.** The notes do not say how their data are split; Dorothea's validation rows are our test
  rows.
"""
