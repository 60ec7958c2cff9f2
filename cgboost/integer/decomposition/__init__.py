"""Decomposition of a model one already has: Dantzig–Wolfe reformulation and branch-and-price.

::

    model.py            a mixed-integer model with names; files, HiGHS, CVXPY
    model_parts.py      what readers fill in
    modelling_tools.py  readers of modelling tools: PuLP, Pyomo, linopy, python-mip, OR-Tools, …
    lp_text.py          LP files
    mps_text.py         MPS files
    structure_files.py  GCG's .dec and .blk files
    blocks.py           which row and which variable belongs to which block; equal blocks
    detection.py        blocks of a model that names none
    pricing/            pricing problems of blocks: special algorithms, or a live model in HiGHS
    reformulation.py    master, pricers and branching rules of a structure
    branch_and_cut.py   branch and cut in HiGHS, alone or in turns with a tree search
    decomposition.py    branch-and-price on a model, and the way back
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
