"""One file per solver; `solvers.registry` lists them."""
