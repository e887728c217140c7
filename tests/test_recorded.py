"""What a baseline says: the platforms of a figure, and how often a claim came out."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from lesson_claims.recorded import SURE, Recorded, RecordedError, Wins, read_recorded

CLAIMS = "claim,verdict,wins,seeds\n"
PLATFORMS = "claim,figure,platform,value\n"


@pytest.fixture
def baseline(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return tmp_path

    return write


def test_no_baseline_says_nothing(tmp_path):
    assert read_recorded(tmp_path / "none") == Recorded()


def test_wins_are_of_all_runs_and_platforms_of_all_kinds(baseline):
    baseline("cpu-x/one/claims.csv", CLAIMS + "a,holds,5,5\nb,holds,,\n")
    baseline("cpu-x/two/claims.csv", CLAIMS + "a,holds,17,20\n")
    baseline("cpu-x/platforms.csv", PLATFORMS + "a,f,AVX2,0.5\na,f,SSE,.6\n")
    recorded = read_recorded(baseline("cpu-y/platforms.csv", PLATFORMS + "a,f,AVX2,0.25\n"))
    assert recorded.wins == {"a": Wins(22, 25)}
    assert recorded.spreads == {("a", "f"): {"AVX2 (cpu-x)": 0.5, "SSE (cpu-x)": 0.6, "AVX2 (cpu-y)": 0.25}}


def test_runs_from_before_wins_were_kept_say_nothing_of_them(baseline):
    assert read_recorded(baseline("cpu-x/one/claims.csv", "claim,seeds\na,5\n")).wins == {}


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("k/platforms.csv", PLATFORMS + "a,f,p,many\n", "column 'value': 'many' is no number"),
        ("k/platforms.csv", PLATFORMS + "a,f,p\n", "column 'value': None is no number"),
        ("k/platforms.csv", "claim,figure,value\n", "column 'platform' is missing"),
        ("k/platforms.csv", PLATFORMS + 'a,f,p,"0.5', "cannot be used"),
        ("k/r/claims.csv", CLAIMS + "a,holds,five,5\n", "column 'wins': 'five' is no number"),
        ("k/r/claims.csv", CLAIMS + "a,holds,5,\n", "column 'seeds': '' is no number"),
        ("k/r/claims.csv", CLAIMS + "a,holds,6,5\n", "6 wins of 5 seeds"),
        ("k/r/claims.csv", CLAIMS + "a,holds,-1,5\n", "-1 wins of 5 seeds"),
        ("k/r/claims.csv", "", "column 'claim' is missing"),
    ],
)
def test_a_damaged_table_is_one_line_with_its_name(baseline, name, text, said):
    folder = baseline(name, text)
    with pytest.raises(RecordedError) as caught:
        read_recorded(folder)
    message = str(caught.value)
    assert said in message
    assert message.startswith(str(folder / name))
    assert "\n" not in message
    assert "restore the file from git" in message


def test_bytes_that_are_no_text_are_one_line(tmp_path):
    (tmp_path / "k").mkdir()
    (tmp_path / "k" / "platforms.csv").write_bytes(b"claim\xff")
    with pytest.raises(RecordedError, match="cannot be used"):
        read_recorded(tmp_path)


KNOWN = Recorded(wins={"even": Wins(10, 20), "sure": Wins(100, 100), "never": Wins(0, 100)})


@pytest.mark.parametrize(
    ("claim", "expected", "wins", "contradicted"),
    [
        ("even", "holds", 10, False),
        ("even", "holds", 0, True),
        ("sure", "holds", 20, False),
        ("sure", "holds", 13, True),
        ("never", "refuted", 0, False),
        ("never", "refuted", 7, True),
        ("never", "holds", 0, False),
        ("unknown", "holds", 14, False),
        ("unknown", "holds", 10, True),
        ("unknown", "refuted", 6, False),
        ("unknown", "refuted", 10, True),
    ],
)
def test_twenty_seeds_contradict_a_record_where_they_are_hardly_those_of_its_share(claim, expected, wins, contradicted):
    assert KNOWN.contradicts(claim, expected, wins, 20) is contradicted


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 60), st.integers(0, 60), st.integers(1, 20))
def test_both_directions_are_mirrored_and_more_wins_never_contradict_a_claim_that_holds(known, lost, seeds):
    for_it = Recorded(wins={"a": Wins(known, known + lost)} if known + lost else {})
    against = Recorded(wins={"a": Wins(lost, known + lost)} if known + lost else {})
    told = [for_it.contradicts("a", "holds", wins, seeds) for wins in range(seeds + 1)]
    assert told == sorted(told, reverse=True)
    assert told == [against.contradicts("a", "refuted", seeds - wins, seeds) for wins in range(seeds + 1)]


@pytest.mark.parametrize("share", [0.5, 0.8, 1.0])
@pytest.mark.parametrize("known_seeds", [5, 20])
def test_a_record_of_the_same_share_is_hardly_ever_contradicted(share, known_seeds):
    """The exact rate, over what the baseline and the session may show of one and the same share."""
    seeds, rate = 20, 0.0
    for known in range(known_seeds + 1):
        recorded = Recorded(wins={"a": Wins(known, known_seeds)})
        told = [recorded.contradicts("a", "holds", wins, seeds) for wins in range(seeds + 1)]
        chance = stats.binom.pmf(range(seeds + 1), seeds, share)[told].sum()
        rate += stats.binom.pmf(known, known_seeds, share) * chance
    assert rate <= 2 * SURE
