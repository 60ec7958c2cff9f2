"""What there is to say about a fitted model, for a terminal, a notebook and a file.

::

    facts.py      what is true of a fitted model: size, certificate, end, scores
    meanings.py   what a stop reason and a certificate mean, in sentences
    sparkline.py  the history as a small drawing
    panel.py      facts and drawings below the diagram in a notebook
    page.py       the file: sections.py and pictures.py side by side
"""
