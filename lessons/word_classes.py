"""Words in planted classes: does training put words that are used alike near each other?

A small language of four classes of six words. A class is followed by either of the next two classes (around the
circle), and any word of a class is as good as any other: what a word does in a sentence depends on its class alone,
and nothing but that tells the classes apart. A worked example, eight words and their classes (word // 6):

    words    3   9  14  23   0  13   2  11
    classes  0   1   2   3   0   2   0   1
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from lessons.next_element import NextElementModel, next_element_loss, shifted
from lessons.training import Training, train

CLASSES = 4
WORDS_PER_CLASS = 6
VOCABULARY = CLASSES * WORDS_PER_CLASS

SHUFFLES = 200


def sentences(rows: int, length: int, seed: int) -> Tensor:
    """Draw sentences of the small language.

    Args:
        rows: number of sentences.
        length: words per sentence, at least 1.
        seed: of one CPU generator.

    Returns:
        int64 of shape (rows, length), values 0..VOCABULARY − 1; word w is of class w // WORDS_PER_CLASS.
    """
    generator = torch.Generator().manual_seed(seed)
    first = torch.randint(CLASSES, (rows, 1), generator=generator)
    onward = torch.randint(1, 3, (rows, length - 1), generator=generator)
    classes = torch.cat([first, onward], dim=1).cumsum(dim=1) % CLASSES
    return classes * WORDS_PER_CLASS + torch.randint(WORDS_PER_CLASS, (rows, length), generator=generator)


def class_cosines(table: Tensor, classes: Tensor) -> tuple[float, float]:
    """Mean cosine of two words of one class, and of two words of two classes.

    Args:
        table: float of shape (words, features), a vector for each word.
        classes: int64 of shape (words,), the class of each word.
    """
    unit = functional.normalize(table.double(), dim=1)
    cosines = unit @ unit.T
    alike = classes[:, None] == classes[None, :]
    itself = torch.eye(len(table), dtype=torch.bool, device=table.device)
    return cosines[alike & ~itself].mean().item(), cosines[~alike].mean().item()


@dataclass(frozen=True)
class WordClasses:
    """Predict the next word of the small language, then compare the vectors of its words.

    Seed s is the data seed and the global seed before the model is built.
    """

    rows: int = 200
    length: int = 21
    model: NextElementModel = NextElementModel(vocabulary=VOCABULARY, embedding=4, hidden=16)
    training: Training = Training(learning_rate=2e-2, batch_size=20, reseed=False)

    def run(self, seed: int, device: torch.device) -> dict[str, Any]:
        """Train and compare.

        Returns:
            mean cosines, −1..1, `within classes` and `between classes`; `gap`, the first less the second; `gap before
            training`; and `shuffled gaps`, the same gap under SHUFFLES random assignments of the words to classes of
            the same size.
        """
        inputs, targets = (part.to(device) for part in shifted(sentences(self.rows, self.length, seed)))
        torch.manual_seed(seed)
        model = self.model.build().to(device)
        classes = torch.arange(VOCABULARY) // WORDS_PER_CLASS
        before = class_cosines(model.embedding.weight.detach().cpu(), classes)
        train(model, inputs, targets, self.training, loss_function=next_element_loss)
        table = model.embedding.weight.detach().cpu()
        within, between = class_cosines(table, classes)
        generator = torch.Generator().manual_seed(seed)
        shuffles = [classes[torch.randperm(VOCABULARY, generator=generator)] for _ in range(SHUFFLES)]
        shuffled = [class_cosines(table, shuffle) for shuffle in shuffles]
        return {
            "within classes": within,
            "between classes": between,
            "gap": within - between,
            "gap before training": before[0] - before[1],
            "shuffled gaps": [alike - apart for alike, apart in shuffled],
        }


WORD_CLASSES = WordClasses()
"""week07 day 3: words that are used alike."""
