"""How a claim declares its controls, and which of them are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from lesson_claims.controls import Control, ControlError, Edit, StandIn, edited_files
from lesson_claims.project import read_project
from lesson_claims.registry import Registry, RegistryError, load_registry

ROOT = Path(__file__).parent.parent
CLAIM = '[[claim]]\nid = "a.{id}"\nwhere = "the text"\nsays = "It is so."\nkind = "exact"\nexpect = "{expect}"\n'
CORRECTED = 'reason = "Seen."\n[claim.corrected]\nsays = "Not so."\nkind = "exact"\nsuggest = "Not so."\n'
EDIT = 'in = "lessons/code.py"\nreplace = "+ 1"\nwith = "+ 2"\n'
STAND_IN = 'stand_in = "math.sqrt"\nwith = "claims.stand_ins:halved"\n'

CODE = "def after(x):\n    return x + 1\n\n\ndef before(x):\n    return x - 1\n"


def control(body: str = EDIT, breaks: str = "adds too much", table: str = "claim.control") -> str:
    return f'[[{table}]]\nbreaks = "{breaks}"\n{body}'


def registry_of(root: Path, *controls: str, expect: str = "holds", more: str = "") -> Registry:
    (root / "claims").mkdir(exist_ok=True)
    (root / "lessons").mkdir(exist_ok=True)
    (root / "lessons" / "code.py").write_text(CODE, encoding="utf-8")
    (root / "claims" / "stand_ins.py").write_text("def halved(original): ...\n", encoding="utf-8")
    claim = CLAIM.format(id="x", expect=expect) + more
    text = '[lesson]\nid = "a"\ntitle = "A"\n' + CLAIM.format(id="y", expect="holds") + claim + "".join(controls)
    (root / "claims" / "a.toml").write_text(text, encoding="utf-8")
    return load_registry(read_project(root))


def test_a_control_is_an_edit_several_edits_or_a_stand_in(tmp_path: Path) -> None:
    two = 'edit = [\n  {in = "lessons/code.py", replace = "+ 1", with = ""},\n'
    two += '  {in = "lessons/code.py", replace = "- 1", with = "- 2"},\n]\n'
    registry = registry_of(
        tmp_path,
        control() + 'also = ["a.y"]\n',
        control(two, "both"),
        control(STAND_IN, "the root"),
        control(table="claim.corrected.control"),
        expect="refuted",
        more=CORRECTED,
    )
    one, both, root = registry.claims["a.x"].controls
    assert one == Control("adds too much", (Edit("lessons/code.py", "+ 1", "+ 2"),), None, ("a.y",))
    assert both.edits == (Edit("lessons/code.py", "+ 1", ""), Edit("lessons/code.py", "- 1", "- 2"))
    assert root.stand_in == StandIn("math.sqrt", "claims.stand_ins:halved")
    assert registry.claims["a.x.corrected"].controls == (Control("adds too much", one.edits),)
    assert registry.claims["a.y"].controls == ()


@pytest.mark.parametrize(
    ("controls", "said"),
    [
        ("[claim.control]\n" + EDIT, r"claim.control must be written \[\[claim.control\]\], once for each"),
        (control(breaks=" "), "control 1: the field 'breaks' is empty"),
        (control("brakes = 1\n" + EDIT), "unknown field `brakes`; the fields are breaks, in, replace, with, edit"),
        (control(""), "control 1: a control has in, replace and with; or edit"),
        (control('in = "lessons/code.py"\nwith = "x"\n'), "a control has in, replace and with"),
        (control(EDIT + 'stand_in = "math.sqrt"\n'), "a control has in, replace and with"),
        (control('stand_in = "math.sqrt"\n'), "a control has in, replace and with"),
        (control(EDIT + 'edit = [{in = "a", replace = "b", with = "c"}]\n'), "a control has in, replace and with"),
        (control('edit = [{in = "a", replace = "b"}]\n'), "missing required field `with`"),
        (control(EDIT.replace("+ 2", "+ 1")), "this edit changes nothing"),
        (control(EDIT.replace("+ 1", "")), "this edit changes nothing"),
        (control() + control(), "control 2: another control of the claim breaks 'adds too much' already"),
        (control() + 'also = ["a.z"]\n', "also names 'a.z', which is no other claim"),
        (control() + 'also = ["a.x"]\n', "also names 'a.x', which is no other claim"),
        (control(EDIT.replace("code.py", "none.py")), "'lessons/none.py' is no file in the lessons' code"),
        (control(EDIT.replace("lessons/code.py", "claims/stand_ins.py")), "no file in the lessons' code"),
        (control(EDIT.replace("lessons/", "lessons/../../")), "no file in the lessons' code"),
        (control(STAND_IN.replace("math.sqrt", "sqrt")), "stand_in 'sqrt' is no dotted path"),
        (control(STAND_IN.replace("math.sqrt", "lessons.code.after")), "is the lessons' own code; edit its file"),
        (control(STAND_IN.replace(":halved", "")), 'is not "module:NAME"'),
        (control(STAND_IN.replace("stand_ins", "others")), "names the module 'claims.others', which is in no folder"),
        (control(STAND_IN.replace("claims.stand_ins", "os.path")), "names the module 'os.path'"),
    ],
)
def test_a_control_that_cannot_be_used_is_refused(tmp_path: Path, controls: str, said: str) -> None:
    with pytest.raises(RegistryError, match=said) as refused:
        registry_of(tmp_path, controls)
    assert "a.x" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_an_open_claim_has_no_verdict_that_could_turn(tmp_path: Path) -> None:
    with pytest.raises(RegistryError, match="the claim is open"):
        registry_of(tmp_path, control(), expect="open")


def test_edits_give_the_new_texts_one_after_the_other(tmp_path: Path) -> None:
    two = 'edit = [{in = "lessons/code.py", replace = "+ 1", with = "+ 2"},'
    two += ' {in = "lessons/code.py", replace = "x + 2", with = "x + 3"}]\n'
    (own,) = registry_of(tmp_path, control(two)).claims["a.x"].controls
    assert edited_files(own, "a.x", tmp_path) == {"lessons/code.py": CODE.replace("+ 1", "+ 3")}


@pytest.mark.parametrize(("text", "times"), [("+ 7", 0), ("return x", 2)])
def test_a_text_to_replace_stands_exactly_once(tmp_path: Path, text: str, times: int) -> None:
    (own,) = registry_of(tmp_path, control(EDIT.replace("+ 1", text))).claims["a.x"].controls
    with pytest.raises(ControlError, match=rf"a.x: '.*' stands {times} times in lessons/code.py"):
        edited_files(own, "a.x", tmp_path)


@pytest.mark.parametrize("root", [ROOT, ROOT / "examples" / "gradient-descent"], ids=["ours", "example"])
def test_the_texts_of_our_own_controls_stand_in_their_files(root: Path) -> None:
    for claim in load_registry(read_project(root)).claims.values():
        for own in claim.controls:
            assert own.stand_in or edited_files(own, claim.id, root)
