"""Counts words."""


def words(text):
    """The words of a text, in lower case."""
    return text.lower().split()
