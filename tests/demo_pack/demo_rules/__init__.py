"""A rule pack of words, so that the command line can be tested apart from what the real rules know."""
