"""Hard negatives for contrastive training."""

import random


def with_negative(pairs):
    for question, passage in pairs:
        other = passage
        while other == passage:
            other = random.choice(pairs)[1]
        yield question, passage, other
