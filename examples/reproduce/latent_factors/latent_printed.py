"""The numbers that the paper prints in its Tables 1 to 4.

Each is (mean, standard deviation): training, test, and number of factors, where there is one.
"""

from __future__ import annotations

from dataclasses import dataclass

Pair = tuple[float, float]


@dataclass(frozen=True)
class Printed:
    """One model on one data set."""

    train: Pair
    test: Pair
    size: Pair | None = None


TABLES: dict[tuple[str, str], tuple[int, str]] = {
    ("linear", "numbers"): (1, "Regression with linear models: mean squared error"),
    ("linear", "classes"): (2, "Classes with linear models: accuracy in per cent"),
    ("rbf", "numbers"): (3, "Regression with the RBF kernel: mean squared error"),
    ("rbf", "classes"): (4, "Classes with the RBF kernel: accuracy in per cent"),
}

PAPER: dict[tuple[str, str, str], Printed] = {
    ("linear", "Boston", "squared_error"): Printed((21.8173, 1.1102), (23.4910, 10.1094), (8, 0)),
    ("linear", "Boston", "absolute_error"): Printed(
        (24.6214, 1.4260), (25.6909, 14.0496), (6.8, 1.40)
    ),
    ("linear", "Boston", "svm"): Printed((22.5446, 1.1150), (24.1008, 11.6537)),
    ("linear", "Cancer", "squared_error"): Printed((95.97, 0.30), (96.00, 0.24), (4.08, 1.03)),
    ("linear", "Cancer", "exponential"): Printed((96.57, 0.30), (96.22, 2.25), (5.84, 0.85)),
    ("linear", "Cancer", "log_loss"): Printed((96.91, 0.22), (96.74, 2.13), (5.41, 1.08)),
    ("linear", "Cancer", "svm"): Printed((97.03, 0.24), (96.72, 1.95)),
    ("linear", "Diabetes", "squared_error"): Printed((78.08, 0.51), (76.01, 4.03), (5.20, 0.70)),
    ("linear", "Diabetes", "exponential"): Printed((77.62, 0.58), (75.80, 3.90), (5.15, 0.78)),
    ("linear", "Diabetes", "log_loss"): Printed((78.26, 0.52), (76.33, 4.02), (5.39, 0.71)),
    ("linear", "Diabetes", "svm"): Printed((77.93, 0.62), (76.04, 4.08)),
    ("linear", "Ionosphere", "squared_error"): Printed((90.18, 1.04), (85.86, 5.86), (5.69, 1.62)),
    ("linear", "Ionosphere", "exponential"): Printed((91.64, 1.30), (85.97, 5.90), (7.40, 1.26)),
    ("linear", "Ionosphere", "log_loss"): Printed((93.47, 1.31), (86.83, 5.86), (7.11, 1.27)),
    ("linear", "Ionosphere", "svm"): Printed((93.12, 1.74), (86.06, 5.54)),
    ("linear", "Liver", "squared_error"): Printed((69.93, 1.33), (69.24, 8.15), (4, 0)),
    ("linear", "Liver", "exponential"): Printed((69.40, 1.45), (68.53, 8.76), (4, 0)),
    ("linear", "Liver", "log_loss"): Printed((96.98, 1.37), (69.00, 8.92), (4, 0)),
    ("linear", "Liver", "svm"): Printed((70.93, 1.27), (69.15, 7.62)),
    ("linear", "WBC", "squared_error"): Printed((96.64, 0.31), (95.91, 2.33), (6.16, 0.75)),
    ("linear", "WBC", "exponential"): Printed((98.10, 0.33), (97.14, 1.93), (5.34, 0.54)),
    ("linear", "WBC", "log_loss"): Printed((98.65, 0.22), (97.80, 1.85), (5.38, 0.49)),
    ("linear", "WBC", "svm"): Printed((98.50, 0.34), (97.52, 1.88)),
    ("rbf", "Boston", "squared_error"): Printed((3.5723, 0.4464), (9.8334, 4.3849), (19.2, 1.81)),
    ("rbf", "Boston", "absolute_error"): Printed((4.8788, 0.9215), (10.4530, 7.6215), (29.6, 4.97)),
    ("rbf", "Boston", "svm"): Printed((3.8194, 0.5040), (10.1425, 7.3367)),
    ("rbf", "Cancer", "squared_error"): Printed((96.95, 0.47), (96.46, 1.99), (2.94, 3.72)),
    ("rbf", "Cancer", "exponential"): Printed((96.87, 0.35), (96.51, 2.15), (3.98, 0.32)),
    ("rbf", "Cancer", "log_loss"): Printed((96.70, 0.28), (96.71, 1.98), (1.17, 0.45)),
    ("rbf", "Cancer", "svm"): Printed((96.16, 0.27), (96.87, 1.82)),
    ("rbf", "Diabetes", "squared_error"): Printed((79.60, 0.66), (75.76, 4.63), (4.17, 0.57)),
    ("rbf", "Diabetes", "exponential"): Printed((78.67, 1.55), (75.01, 4.68), (3.28, 1.34)),
    ("rbf", "Diabetes", "log_loss"): Printed((79.58, 0.62), (76.36, 4.64), (4.14, 0.38)),
    ("rbf", "Diabetes", "svm"): Printed((79.06, 0.82), (76.03, 4.01)),
    ("rbf", "Ionosphere", "squared_error"): Printed((99.18, 0.45), (94.11, 3.49), (8.73, 2.56)),
    ("rbf", "Ionosphere", "exponential"): Printed((99.45, 0.51), (94.80, 3.60), (8.02, 3.71)),
    ("rbf", "Ionosphere", "log_loss"): Printed((98.99, 0.53), (94.66, 3.51), (5.85, 1.42)),
    ("rbf", "Ionosphere", "svm"): Printed((97.94, 0.88), (94.14, 3.50)),
    ("rbf", "Liver", "squared_error"): Printed((76.45, 1.22), (72.62, 7.09), (5.56, 1.48)),
    ("rbf", "Liver", "exponential"): Printed((76.03, 1.10), (72.26, 6.06), (5.76, 1.13)),
    ("rbf", "Liver", "log_loss"): Printed((76.54, 0.90), (72.94, 6.74), (5.62, 0.65)),
    ("rbf", "Liver", "svm"): Printed((75.90, 1.03), (73.26, 6.92)),
    ("rbf", "WBC", "squared_error"): Printed((98.80, 0.20), (97.88, 1.81), (10.53, 2.05)),
    ("rbf", "WBC", "exponential"): Printed((99.45, 0.53), (97.37, 2.07), (8.89, 4.35)),
    ("rbf", "WBC", "log_loss"): Printed((98.87, 0.30), (97.70, 1.90), (5.87, 0.92)),
    ("rbf", "WBC", "svm"): Printed((98.67, 0.21), (97.95, 1.78)),
}
