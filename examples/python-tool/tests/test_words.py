import unittest

from words import words


class Words(unittest.TestCase):
    def test_words_are_in_lower_case(self):
        self.assertEqual(words("One two"), ["one", "two"])


if __name__ == "__main__":
    unittest.main()
