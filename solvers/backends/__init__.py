"""One file per solver; `solvers.api` lists them."""
