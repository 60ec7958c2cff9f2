"""Tables and sources of blocks: columns, intervals, and which rows are held out."""
