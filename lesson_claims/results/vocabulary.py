"""The words of the tables: each column that has a fixed set of values has them here, as an enum of texts."""

from enum import StrEnum


class ClaimVerdict(StrEnum):
    """What one run says about a claim. A decider gives the first three; the last two say that none could."""

    HOLDS = "holds"
    REFUTED = "refuted"
    INCONCLUSIVE = "inconclusive"
    ERROR = "error"
    NOT_RUN = "not run"


class Expectation(StrEnum):
    """What is on record for a claim: its verdict, or that it depends on the seed; `open` if nobody has decided it."""

    HOLDS = "holds"
    REFUTED = "refuted"
    DEPENDS = "depends"
    OPEN = "open"


class Standing(StrEnum):
    """Where a statement of the page stands after a run; the reader's words for verdict and record together."""

    HOLDS = "holds"
    REFUTED = "refuted"
    DEPENDS = "depends"
    UNDECIDED = "not decided yet"
    ERROR = "error"
    NOT_RUN = "not run"
    CANNOT = "can't be decided"


class ControlOutcome(StrEnum):
    """What became of a control: the verdict turned by the check's own decision, or it did not, and how."""

    CAUGHT = "caught"
    MISSED = "missed"
    INCONCLUSIVE = "inconclusive"
    ERROR = "error"


class Remark(StrEnum):
    """What a row of errata.csv is: an error of the page, or something true that the page should add."""

    ERRATUM = "erratum"
    ADDITION = "addition"


class Agreement(StrEnum):
    """How a measured number stands to the printed one."""

    REPRODUCED = "reproduced"
    WITHIN = "within"
    OUTSIDE = "outside"
    DEPENDS = "depends on the machine"
    NOT_JUDGED = "not judged"
    NOT_PRINTED = "not printed"
    NOT_MEASURED = "not measured"


class SettingAgreement(StrEnum):
    """How a run was made, against what the page states."""

    AS_STATED = "as stated"
    OTHERWISE = "otherwise"
    NOT_MEASURED = "not measured"


class Kind(StrEnum):
    """How a claim is decided, or a figure compared.

    `exact`: equal or wrong. `float`: arithmetic, equal at the printed digits. `trained`: the outcome of training,
    repeated over seeds. `stated`: printed, and not computed by the page's code. `behaviour`: a property on many inputs.
    `ordering`: one thing against another over paired seeds. `scaling`: how a cost grows. `clock`: measured by a clock,
    recorded and compared with nothing. Figures have the first four and `clock`, claims all but `stated` and `clock`.
    """

    EXACT = "exact"
    FLOAT = "float"
    TRAINED = "trained"
    STATED = "stated"
    BEHAVIOUR = "behaviour"
    ORDERING = "ordering"
    SCALING = "scaling"
    CLOCK = "clock"


class Digits(StrEnum):
    """What the printed digits of a figure deserve."""

    SUPPORTED = "supported"
    LIMITED = "limited by rounding"
    TOO_MANY = "more than the method gives"


class ValueType(StrEnum):
    """What a measured value is; a text is never taken for the number that it may look like."""

    NUMBER = "number"
    TEXT = "text"
    TRUTH = "truth"


class DriftState(StrEnum):
    """Where a claim or figure stands against its baseline; the states exclude one another."""

    REPRODUCED = "reproduced"
    WITHIN = "within tolerance"
    NUMERICS = "numerics changed"
    DRIFTED = "drifted"
    VANISHED = "vanished"
    SEEDS_LOST = "seeds lost"
    NO_BASELINE = "no baseline yet"
    NOT_MEASURED = "not measured"


OPEN = (DriftState.DRIFTED, DriftState.VANISHED, DriftState.SEEDS_LOST)
"""States that somebody has to see to: they stay until the change is accepted, or is gone."""


class Mark(StrEnum):
    """How a row of curves.csv is drawn."""

    LINE = "line"
    BAR = "bar"
    LIMIT = "limit"


class Scale(StrEnum):
    """The scale of an axis."""

    LINEAR = "linear"
    LOG = "log"


TOO_FEW_SEEDS = "too few seeds"
"""The rule of a decision that was not made, because the run has too few seeds to decide anything."""

PLATFORM_PICTURE = "{figure} by platform"
"""The title of the picture that a run with --platforms draws of a figure: a bar per platform."""
