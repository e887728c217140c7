"""week07, day 4: depth and direction, and sequences of unequal length."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product

import pytest
import torch
from torch import Tensor, nn

from lesson_claims import (
    Decide,
    EvidenceOf,
    Measure,
    beats,
    claim,
    close,
    depends_on_seed,
    equivalent,
    every,
    jittered,
    only_differ,
    refuted,
    same,
    that,
)
from lessons.both_ends import AFTER_HALF
from lessons.classifiers import CELLS, RecurrentClassifier, parameter_count, pool
from lessons.cost import counted_operations
from lessons.embedding import PAGE_TOKENS
from lessons.leak import CHANCE, LEAK, LENGTH, TOKENS
from lessons.neighbours import NEIGHBOURS
from lessons.next_element import NextElementModel, next_element_loss, shifted
from lessons.padding import (
    PAGE_SEQUENCES,
    RecurrentLayer,
    masked_mean,
    pack,
    pad,
    real_by_length,
    real_by_token,
    run,
)
from lessons.recipes import BIDIRECTIONAL, COMPARISON, DEPTH_AND_DIRECTION, TWO_LAYERS_LONGER

FEATURES, HIDDEN = 4, 5

USEFUL = 0.02
"""The smallest difference in accuracy that counts."""

MUCH = 0.1
"""What "much" and "a great deal" mean here: one answer in ten."""

NEGLIGIBLE = 1e-5
"""What the same sum in another order may differ by in float32: states and outputs lie between −1 and 1."""

VISIBLE = 1e-3


@claim("week07.day4.depth-and-direction")
def test_depth_and_direction(measure: Measure, evidence: EvidenceOf) -> None:
    for name, recipe in DEPTH_AND_DIRECTION.items():
        measure(f"{name} parameters", parameter_count(recipe.model.build()))
        measure(f"{name} accuracy", evidence(recipe)["accuracy"], bounds=(0, 1))


@claim("week07.day4.two-layers-worse")
@depends_on_seed
def test_two_layers_worse(measure: Measure, decide: Decide, evidence: EvidenceOf) -> None:
    one, two = (evidence(DEPTH_AND_DIRECTION[name])["accuracy"] for name in ("one layer", "two layers"))
    measure.also("one layer accuracy", one, bounds=(0, 1))
    measure.also("two layers accuracy", two, bounds=(0, 1))
    decide(beats(one, two, by=MUCH, names=("after 10 epochs, accuracy of one layer", "that of two")))


@claim("week07.day4.two-layers-worse")
def test_two_layers_worse__at_all(decide: Decide, evidence: EvidenceOf) -> None:
    one, two = (evidence(DEPTH_AND_DIRECTION[name])["accuracy"] for name in ("one layer", "two layers"))
    decide(beats(one, two, names=("after 10 epochs, accuracy of one layer", "that of two")))


@claim("week07.day4.two-layers-worse")
def test_two_layers_worse__twice_the_epochs(measure: Measure, decide: Decide, evidence: EvidenceOf) -> None:
    only_differ(DEPTH_AND_DIRECTION["two layers"], TWO_LAYERS_LONGER, "training.epochs")
    one, longer = (evidence(recipe)["accuracy"] for recipe in (DEPTH_AND_DIRECTION["one layer"], TWO_LAYERS_LONGER))
    measure.also("two layers accuracy after 20 epochs", longer, bounds=(0, 1))
    decide(beats(longer, one, by=-USEFUL, names=("accuracy of two layers after 20 epochs", "that of one after 10")))


@claim("week07.day4.bidirectional-helps")
def test_bidirectional_helps(measure: Measure, decide: Decide, evidence: EvidenceOf) -> None:
    only_differ(AFTER_HALF["one-way"], AFTER_HALF["two-way, both ends"], "model")
    accuracies = {name: evidence(recipe)["accuracy"] for name, recipe in AFTER_HALF.items()}
    for name, sample in accuracies.items():
        measure.also(f"{name}, 5 epochs", sample, bounds=(0, 1))
    names = ("after 5 epochs, accuracy of a two-way layer read where each direction ends", "the one-way layer's")
    decide(same(AFTER_HALF["one-way"].training.epochs, 5, what="The epochs of training"))
    decide(beats(accuracies["two-way, both ends"], accuracies["one-way"], by=MUCH, names=names))


@claim("week07.day4.bidirectional-helps")
def test_bidirectional_helps__evidence_on_either_side(measure: Measure, decide: Decide, evidence: EvidenceOf) -> None:
    only_differ(NEIGHBOURS["two-way"], NEIGHBOURS["one-way"], "bidirectional")
    both, one = (evidence(NEIGHBOURS[name])["accuracy"] for name in ("two-way", "one-way"))
    measure.also("two-way accuracy, larger neighbour", both, bounds=(0, 1))
    measure.also("one-way accuracy, larger neighbour", one, bounds=(0, 1))
    names = ("asked which neighbour of a digit is larger, accuracy of the two-way layer", "the one-way layer's")
    decide(beats(both, one, by=MUCH, names=names))


@claim("week07.day4.bidirectional-helps")
def test_bidirectional_helps__addition(decide: Decide, evidence: EvidenceOf) -> None:
    for budget, both, one in (
        ("5 epochs", AFTER_HALF["two-way, last position"], AFTER_HALF["one-way"]),
        ("10 epochs", DEPTH_AND_DIRECTION["bidirectional"], DEPTH_AND_DIRECTION["one layer"]),
        ("8 clipped epochs", COMPARISON["bidirectional LSTM"], COMPARISON["LSTM"]),
    ):
        only_differ(one, both, "model.bidirectional")
        names = (
            f"after {budget}, accuracy of the one-way layer",
            "that of the two-way layer read at the last position",
        )
        decide(beats(evidence(one)["accuracy"], evidence(both)["accuracy"], by=-MUCH, names=names))
    only_differ(AFTER_HALF["two-way, both ends"], AFTER_HALF["two-way, last position"], "model")
    ends, last = (evidence(AFTER_HALF[f"two-way, {place}"])["accuracy"] for place in ("both ends", "last position"))
    names = (
        "after 5 epochs, accuracy of the two-way layer read where each direction ends",
        "that of one read at the last",
    )
    decide(beats(ends, last, by=MUCH, names=names))


@claim("week07.day4.backward-half-sees-one-token")
def test_backward_half_sees_one_token(decide: Decide, device: torch.device) -> None:
    generator = torch.Generator().manual_seed(0)
    backward_kept, forward_moved, final_moved, alone = [], [], [], []
    for case in product(CELLS, range(2, 12)):
        cell, length = case
        layer = CELLS[cell](FEATURES, HIDDEN, bidirectional=True, batch_first=True).to(device)
        inputs = torch.randn(3, length, FEATURES, generator=generator)
        others = torch.randn(3, length, FEATURES, generator=generator)
        others[:, -1] = inputs[:, -1]
        outputs, state = run(layer, inputs.to(device))
        other_outputs, other_state = run(layer, others.to(device))
        last_only, _ = run(layer, inputs[:, -1:].to(device))
        last, other_last = outputs[:, -1], other_outputs[:, -1]
        backward_kept.append((case, torch.equal(last[:, HIDDEN:], other_last[:, HIDDEN:])))
        forward_moved.append((case, _apart(last[:, :HIDDEN], other_last[:, :HIDDEN]) > VISIBLE))
        final_moved.append((case, _apart(state[-1], other_state[-1]) > VISIBLE))
        alone.append((case, _apart(last[:, HIDDEN:], last_only[:, -1, HIDDEN:]) <= NEGLIGIBLE))
    decide(
        every(
            backward_kept,
            what="as all tokens but the last change, the backward half of the last output stays the same to the bit",
        ),
        every(forward_moved, what="its forward half moves"),
        every(final_moved, what="so does the final state of the backward direction, which has read all"),
        every(alone, what="that backward half is what the last token alone gives"),
    )


@claim("week07.day4.backward-half-sees-one-token")
def test_backward_half_sees_one_token__addition(decide: Decide, device: torch.device) -> None:
    model = RecurrentClassifier(BIDIRECTIONAL).to(device).eval()
    tokens = torch.randint(1, 10, (200, 8), generator=torch.Generator().manual_seed(0))
    handed_over: list[Tensor] = []
    model.head.register_forward_hook(lambda module, arguments, logits: handed_over.append(arguments[0].cpu()))
    with torch.no_grad():
        model(tokens.to(device))
    backward = handed_over[0][:, BIDIRECTIONAL.hidden :]

    def spread(last_token: int) -> float:
        rows = backward[tokens[:, -1] == last_token]
        return (rows.amax(dim=0) - rows.amin(dim=0)).max().item()

    decide(
        every(
            ((token, spread(token) <= NEGLIGIBLE) for token in range(1, 10)),
            what="the page's classifier hands its head the same backward half for all of 200 sequences that end alike",
        )
    )


@claim("week07.day4.bidirectional-leaks")
def test_bidirectional_leaks(measure: Measure, decide: Decide, evidence: EvidenceOf) -> None:
    only_differ(LEAK["one-way"], LEAK["two-way"], "bidirectional")
    runs = {name: evidence(recipe) for name, recipe in LEAK.items()}
    picture = "Right answers about independent random tokens"
    for name, found in runs.items():
        measure.also(f"{name} accuracy", found["accuracy"], bounds=(0, 1))
        measure.curve(
            picture,
            range(1, LENGTH),
            found["accuracy by position"].values.mean(axis=0),
            series=name,
            x_label="position",
            y_label="accuracy",
        )
    measure.limit(picture, CHANCE, series="chance")
    by_position = runs["two-way"]["accuracy by position"]
    seen, guessed = by_position.reduced(lambda accuracies: min(accuracies[:-1])), by_position.at(-1)
    decide(
        equivalent(
            runs["one-way"]["accuracy"], CHANCE, margin=0.02, names=("accuracy of the one-way layer", "chance (1/10)")
        ),
        beats(
            seen, 0.99, names=("the smallest accuracy of the two-way layer where the next token is in the row", "0.99")
        ),
        equivalent(guessed, CHANCE, margin=0.05, names=("its accuracy at the last position", "chance (1/10)")),
    )


@claim("week07.day4.bidirectional-leaks")
@pytest.mark.parametrize("bidirectional", [False, True])
def test_bidirectional_leaks__silently(decide: Decide, device: torch.device, bidirectional: bool) -> None:
    generator = torch.Generator().manual_seed(0)
    tokens = torch.randint(TOKENS, (4, LENGTH), generator=generator)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # whatever the library had to say would end the check
        model = NextElementModel(vocabulary=TOKENS, bidirectional=bidirectional).build().to(device)
        inputs, targets = shifted(tokens.to(device))
        logits = model(inputs)
        next_element_loss(logits, targets).backward()  # type: ignore[no-untyped-call]

    def sees_what_follows(position: int) -> bool:
        changed = inputs.clone()
        changed[:, position + 1 :] = (changed[:, position + 1 :] + 1) % TOKENS
        return not torch.equal(model(changed)[:, position], logits[:, position])

    layer = "two-way" if bidirectional else "one-way"
    decide(
        every(
            ((position, sees_what_follows(position) is bidirectional) for position in range(LENGTH - 2)),
            what=f"the {layer} layer, built, run and trained without a warning, "
            f"{'sees' if bidirectional else 'does not see'} the tokens that follow a position",
        )
    )


@claim("week07.day4.padding")
def test_padding(measure: Measure) -> None:
    tokens, _ = pad(PAGE_SEQUENCES)
    for row in range(len(PAGE_SEQUENCES)):
        measure.each(f"padded row {row}", tokens[row])


def _page_run(device: torch.device) -> tuple[nn.LSTM, Tensor, Tensor]:
    """Return the page's layer, its embedded rectangle and the lengths of its sequences."""
    tokens, lengths = pad(PAGE_SEQUENCES)
    torch.manual_seed(0)
    embedding = nn.Embedding(10, FEATURES)
    layer = nn.LSTM(FEATURES, HIDDEN, batch_first=True)
    return layer.to(device), embedding(tokens).detach().to(device), lengths.to(device)


def _random_runs(
    device: torch.device, *, directions: tuple[bool, ...] = (False, True)
) -> Iterator[tuple[str, RecurrentLayer, Tensor, Tensor]]:
    """Yield layers of each cell, depth and direction with a rectangle and its lengths, in no order and with ties."""
    generator = torch.Generator().manual_seed(0)
    for name, cell in CELLS.items():
        for layers in (1, 2):
            for bidirectional in directions:
                layer = cell(FEATURES, HIDDEN, num_layers=layers, bidirectional=bidirectional, batch_first=True)
                lengths = torch.randint(1, 10, (7,), generator=generator)
                inputs = torch.randn(7, int(lengths.max()), FEATURES, generator=generator)
                case = f"{name}, {layers} layers, {'two-way' if bidirectional else 'one-way'}"
                yield case, layer.to(device), inputs.to(device), lengths.to(device)


def _apart(a: Tensor, b: Tensor) -> float:
    return (a - b).abs().max().item()


@claim("week07.day4.packed-differs-from-padded")
def test_packed_differs_from_padded(measure: Measure, device: torch.device) -> None:
    layer, inputs, lengths = _page_run(device)
    measure("padding zeros behind [6, 7]", inputs.shape[1] - lengths[1])
    _, padded = run(layer, inputs)
    _, packed = run(layer, inputs, lengths)
    noise = jittered(lambda layer, inputs: run(layer, inputs)[1][-1, 1], layer, inputs)
    measure.each("padded final state", padded[-1, 1], noise=noise)
    noise = jittered(lambda layer, inputs: run(layer, inputs, lengths)[1][-1, 1], layer, inputs)
    measure.each("packed final state", packed[-1, 1], noise=noise)


@claim("week07.day4.packed-differs-from-padded")
def test_packed_differs_from_padded__wherever_there_is_padding(decide: Decide, device: torch.device) -> None:
    results = []
    for case, layer, inputs, lengths in _random_runs(device):
        _, padded = run(layer, inputs)
        _, packed = run(layer, inputs, lengths)
        for row, length in enumerate(lengths.tolist()):
            apart = _apart(padded[:, row], packed[:, row])
            full = length == inputs.shape[1]
            results.append(((case, length), apart <= NEGLIGIBLE if full else apart > VISIBLE))
    decide(every(results, what="the final states differ where a row is padded, and agree where it is not"))


@claim("week07.day4.packed-is-the-truth")
def test_packed_is_the_truth(measure: Measure, decide: Decide, device: torch.device) -> None:
    packed_error, padded_error = 0.0, 0.0
    results = []
    for case, layer, inputs, lengths in _random_runs(device):
        _, padded = run(layer, inputs)
        outputs, packed = run(layer, inputs, lengths)
        for row, length in enumerate(lengths.tolist()):
            alone_outputs, alone = run(layer, inputs[row : row + 1, :length])
            apart = max(_apart(packed[:, row], alone[:, 0]), _apart(outputs[row, :length], alone_outputs[0]))
            results.append(((case, length), apart <= NEGLIGIBLE))
            packed_error = max(packed_error, apart)
            padded_error = max(padded_error, _apart(padded[:, row], alone[:, 0]))
    measure.also("largest error of a packed state", packed_error)
    measure.also("largest error of a padded state", padded_error)
    what = "packed, outputs and final state are those of the sequence run alone, in the caller's order"
    decide(every(results, what=what))


@claim("week07.day4.gather-true-last")
def test_gather_true_last(measure: Measure, decide: Decide, device: torch.device) -> None:
    layer, inputs, lengths = _page_run(device)
    outputs, _ = run(layer, inputs)
    _, packed = run(layer, inputs, lengths)
    gathered = pool(outputs, "true last", lengths)
    noise = jittered(lambda layer, inputs: pool(run(layer, inputs)[0], "true last", lengths), layer, inputs)
    for row, (state, *moved) in enumerate(zip(gathered, *noise, strict=True)):
        measure.each(f"gathered state, sequence {row}", state, noise=moved)
    what = "the gathered states, against the packed ones"
    decide(close(gathered.numpy(force=True), packed[-1].numpy(force=True), rtol=0, atol=NEGLIGIBLE, what=what))


@claim("week07.day4.gather-true-last")
def test_gather_true_last__one_way(decide: Decide, device: torch.device) -> None:
    results = []
    for case, layer, inputs, lengths in _random_runs(device, directions=(False,)):
        outputs, _ = run(layer, inputs)
        _, packed = run(layer, inputs, lengths)
        results.append((case, _apart(pool(outputs, "true last", lengths), packed[-1]) <= NEGLIGIBLE))
    decide(every(results, what="the outputs gathered at the true last positions are the packed final states"))


@claim("week07.day4.gather-true-last")
def test_gather_true_last__addition(decide: Decide, device: torch.device) -> None:
    results = []
    for case, layer, inputs, lengths in _random_runs(device, directions=(True,)):
        padded, _ = run(layer, inputs)
        packed, _ = run(layer, inputs, lengths)
        short = lengths < inputs.shape[1]
        apart = (pool(padded, "true last", lengths) - pool(packed, "true last", lengths))[short, HIDDEN:]
        results.append((case, bool((apart.abs().amax(dim=1) > VISIBLE).all())))
    decide(every(results, what="the backward half of a two-way layer, gathered, differs from the packed one"))


@claim("week07.day4.masked-mean")
def test_masked_mean(measure: Measure, device: torch.device) -> None:
    layer, inputs, lengths = _page_run(device)
    outputs, _ = run(layer, inputs)
    means = masked_mean(outputs, lengths)
    noise = jittered(lambda layer, inputs: masked_mean(run(layer, inputs)[0], lengths), layer, inputs)
    for row, (mean, *moved) in enumerate(zip(means, *noise, strict=True)):
        measure.each(f"mean state, sequence {row}", mean, noise=moved)


@claim("week07.day4.masked-mean")
def test_masked_mean__of_the_unpadded_run(decide: Decide, device: torch.device) -> None:
    results = []
    for case, layer, inputs, lengths in _random_runs(device, directions=(False,)):
        outputs, _ = run(layer, inputs)
        means = masked_mean(outputs, lengths)
        for row, length in enumerate(lengths.tolist()):
            alone, _ = run(layer, inputs[row : row + 1, :length])
            results.append(((case, length), _apart(means[row], alone[0].mean(dim=0)) <= NEGLIGIBLE))
    decide(every(results, what="the masked mean is the mean of the sequence run alone"))


@claim("week07.day4.mask-by-nonzero")
@refuted
def test_mask_by_nonzero(decide: Decide) -> None:
    batches = {"day 4's sequences": PAGE_SEQUENCES, "day 3's sequences": PAGE_TOKENS, **_random_batches(smallest=0)}
    cases = ((name, torch.equal(real_by_token(pad(batch)[0]), _real(batch))) for name, batch in batches.items())
    decide(every(cases, what="the positions that are not zero are the real ones, for tokens 0 to 9"))


@claim("week07.day4.mask-by-nonzero.corrected")
def test_mask_by_nonzero__corrected(measure: Measure, decide: Decide) -> None:
    day_3, lengths = pad(PAGE_TOKENS)
    measure.also("tokens of day 3", int(lengths.sum()))
    measure.also("tokens of day 3 that the mask drops", int(lengths.sum() - real_by_token(day_3).sum()))
    by_length, by_own_token, by_zero = [], [], []
    for name, batch in {**_random_batches(smallest=0), **_random_batches(smallest=1)}.items():
        tokens, lengths = pad(batch)
        others, _ = pad(batch, padding=10)
        holds_zero = any(0 in sequence for sequence in batch)
        by_length.append((name, torch.equal(real_by_length(lengths, tokens.shape[1]), _real(batch))))
        by_own_token.append((name, torch.equal(real_by_token(others, padding=10), _real(batch))))
        by_zero.append((name, torch.equal(real_by_token(tokens), _real(batch)) is not holds_zero))
    decide(
        every(by_length, what="the lengths mark the real positions, whatever the tokens"),
        every(by_own_token, what="so does the padding token 10, where the tokens are 0 to 9"),
        every(by_zero, what="the padding token 0 does so where no sequence holds a 0, and nowhere else"),
    )


def _random_batches(smallest: int) -> dict[str, list[list[int]]]:
    """Return 50 batches of four sequences of 1 to 6 tokens, each from `smallest` to 9."""
    generator = torch.Generator().manual_seed(smallest)
    return {
        f"batch {number} of tokens {smallest} to 9": [
            torch.randint(smallest, 10, (int(length),), generator=generator).tolist()
            for length in torch.randint(1, 7, (4,), generator=generator)
        ]
        for number in range(50)
    }


def _real(batch: Sequence[Sequence[int]]) -> Tensor:
    """Mark the real positions of a padded batch, bool of shape (sequences, longest)."""
    longest = max(map(len, batch))
    return torch.tensor([[place < len(sequence) for place in range(longest)] for sequence in batch])


@claim("week07.day4.packing-saves-work")
def test_packing_saves_work(measure: Measure, decide: Decide) -> None:
    layer, inputs, lengths = _page_run(torch.device("cpu"))
    packed = pack(inputs, lengths)
    measure.also("steps, packed", len(packed.data))
    measure.also("steps, padded", inputs.shape[0] * inputs.shape[1])
    share = Fraction(_operations(layer, inputs, lengths), _operations(layer, inputs))
    decide(
        same(tuple(packed.batch_sizes.tolist()), (3, 3, 2, 1, 1), what="sequences still running at each step"),
        that(
            share == Fraction(10, 15), f"Packed, the layer counts {share} of the operations: 10 of 15 steps are real."
        ),
    )


@claim("week07.day4.packing-saves-work")
def test_packing_saves_work__all_the_padding(decide: Decide) -> None:
    def saved(layer: RecurrentLayer, inputs: Tensor, lengths: Tensor) -> bool:
        real = Fraction(int(lengths.sum()), inputs.shape[0] * inputs.shape[1])
        return Fraction(_operations(layer, inputs, lengths), _operations(layer, inputs)) == real

    runs = _random_runs(torch.device("cpu"))
    cases = ((case, saved(layer, inputs, lengths)) for case, layer, inputs, lengths in runs)
    decide(every(cases, what="of the padded run's operations, the packed one makes the share that is not padding"))


def _operations(layer: RecurrentLayer, inputs: Tensor, lengths: Tensor | None = None) -> int:
    """Count the operations of a run on the processor, packed where lengths are given."""
    layer, inputs = layer.double(), inputs.double()  # in float32 an LSTM's fused kernel hides its products
    return counted_operations(lambda: run(layer, inputs, lengths))
