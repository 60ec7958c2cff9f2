"""What there is to say about a fitted model, for a terminal, a notebook and a file.

::

    facts.py      what is true of a fitted model: size, certificate, end, scores, and what they mean
    pictures.py   pictures of the model and of its history, as SVG in the colours of the page
    page.py       the file, and the panel below the diagram in a notebook
    templates/    their words and their layout
"""
