"""An agent for a rehearsal: it plays what coding agents do on a bad day.

The prompt comes on stdin, the number of the try in RALPH_ATTEMPT; what is printed last is the report.
"""

import os
import sys

DONE = "<promise>COMPLETE</promise>"

COUNT = '''"""How often each word stands in a text."""

from words import words


def count(text):
    """From each word to the number of its places."""
    counts = {}
    for word in words(text):
        counts[word] = counts.get(word, 0) + 1
    return counts
'''
COUNT_TEST = '''import unittest

from words.count import count


class Count(unittest.TestCase):
    def test_every_place_counts(self):
        self.assertEqual(count("a b a"), {"a": 2, "b": 1})
'''
TOP = '''"""The most frequent words."""

from words.count import count


def top(text, n):
    """The n most frequent words, ties in alphabetical order."""
    counts = count(text)
    return sorted(counts, key=lambda word: %s)[:n]
'''
TOP_TEST = '''import unittest

from words.top import top


class Top(unittest.TestCase):
    def test_frequent_first_then_alphabetical(self):
        self.assertEqual(top("b a b c", 2), ["b", "a"])
'''


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def main():
    prompt = sys.stdin.read()
    first_try = os.environ["RALPH_ATTEMPT"] == "1"
    about_count = "count(text)" in prompt.split("YOUR WORK")[-1].split("top(text, n)")[0]
    if about_count and first_try:
        # The lie: only words, no file.
        print("count() is finished, and python3 -m unittest is green.")
    elif about_count:
        write("words/count.py", COUNT)
        write("tests/test_count.py", COUNT_TEST)
        print("Wrote words/count.py and its test.")
    elif first_try:
        # The error: rare words come first.
        write("words/top.py", TOP % "(counts[word], word)")
        write("tests/test_top.py", TOP_TEST)
        print("Wrote words/top.py; the test should pass.")
    else:
        write("words/top.py", TOP % "(-counts[word], word)")
        print("Frequent words come first now.")
    print()
    print(DONE)


main()
