"""Masters of norms of functions: columns that are made orthonormal in the RKHS of their kernel."""
