"""The page in a real browser: what people do with it works, and nothing else happens."""

import json
import os
import shutil

import pytest
import reports_fixtures
import reports_nights

from lesson_claims.report.build import write_report
from lesson_claims.results.tables import Run

pytestmark = pytest.mark.browser
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
RUNS = {
    "small": lambda: reports_fixtures.realistic(per_day=4),
    "tiny": lambda: reports_fixtures.realistic(per_day=2),
    "incomplete": lambda: reports_fixtures.realistic(per_day=2, complete=False),
    "nasty": reports_fixtures.nasty,
    "empty": lambda: Run.from_rows(info={"complete": True}),
}


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        pytest.skip("no Chromium here: install the package chromium, or name its binary in CHROMIUM")
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    folders = {}
    for name, make in RUNS.items():
        folders[name] = tmp_path_factory.mktemp(name)
        write_report(make(), folders[name])
    folders["compared"] = reports_nights.compared(tmp_path_factory.mktemp("compared"), *reports_nights.eventful())
    return folders


@pytest.fixture
def visit(browser, reports):
    """Open a page of a run; at the end, it must have logged nothing, failed nowhere and asked for nothing."""
    contexts, complaints = [], []

    def open_page(name="small", fragment="", width=1280, permissions=(), **options):
        context = browser.new_context(viewport={"width": width, "height": 900}, offline=True, **options)
        context.grant_permissions(list(permissions))
        contexts.append(context)
        page = context.new_page()
        address = (reports[name] / "index.html").as_uri()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        page.on("request", lambda request: complaints.append(request.url)
                if not request.url.startswith((address, "data:")) else None)  # fmt: skip
        page.goto(address + fragment)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


def visible_rows(page):
    return page.locator("table.all tbody tr:visible").count()


@pytest.mark.parametrize("width", [360, 1280, 2560])
@pytest.mark.parametrize("name", [*RUNS, "compared"])
def test_nothing_sticks_out_at_any_width(visit, name, width):
    page = visit(name, width=width)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize(
    ("name", "scheme", "width"),
    [
        ("tiny", "light", 1280),
        ("incomplete", "dark", 360),
        ("empty", "dark", 1280),
        ("compared", "light", 1280),
        ("compared", "dark", 360),
    ],
)
def test_no_accessibility_violation(visit, name, scheme, width):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    page = visit(name, width=width, color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
    found = axe.Axe().run(page, options={"runOnly": tags, "resultTypes": ["violations"]}).response["violations"]
    assert json.dumps([[each["id"], each["nodes"][0]["html"][:200], len(each["nodes"])] for each in found]) == "[]"


def test_dark_mode_is_dark(visit):
    def brightness(scheme):
        colour = visit(color_scheme=scheme).evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(int(part) for part in colour.strip("rgb()").split(","))

    assert brightness("dark") < 150 < 600 < brightness("light")


def test_the_first_screen_answers_at_once(visit):
    page = visit()
    bottom = {
        name: page.locator(name).bounding_box()["y"] for name in ("h1", ".tiles", "#changed-title", "#machine-title")
    }
    assert max(bottom.values()) < 900
    assert " statements of the pages, " in page.locator("h1").inner_text()


@pytest.mark.parametrize("width", [360, 1280])
def test_a_trend_can_be_seen_and_is_described(visit, width):
    page = visit("compared", width=width)
    trend = page.get_by_role("img", name="19266 to 19300").first
    assert trend.is_visible()
    assert "2026-01-04: torch 2.13.0 → 2.14.0; 2026-01-07: drifted" in trend.locator("title").text_content()
    box = trend.bounding_box()
    assert box["width"] > 200
    assert box["height"] > 30
    assert trend.locator("path.drifted").count() == 1
    page.click(".cards a[href='#claim-a.sizes']")
    assert trend.bounding_box()["y"] < 900


def test_what_drifted_is_on_the_first_screen(visit):
    page = visit("compared")
    assert page.locator("#drift-title").bounding_box()["y"] < 500
    assert page.locator("#machine-title").bounding_box()["y"] < 900


def test_an_incomplete_run_is_unmissable(visit):
    page = visit("incomplete", width=360)
    box = page.locator(".incomplete").bounding_box()
    assert box["y"] + box["height"] < 900
    assert page.title().startswith("Incomplete")


def test_filters_narrow_the_table_and_are_kept_in_the_address(visit):
    page = visit()
    everything = visible_rows(page)
    page.select_option("#filter-agreement", "within")
    within = visible_rows(page)
    assert 0 < within < everything
    assert page.locator('table.all tbody tr:visible:not([data-agreement="within"])').count() == 0
    page.fill("#filter-text", "MEAN week07")
    fewer = visible_rows(page)
    assert fewer < within
    assert page.locator(".matches").inner_text() == f"{fewer} of {everything} rows"
    address = page.evaluate("location.hash")
    assert "agreement=within" in address
    assert visible_rows(visit(fragment=address)) == fewer
    page.click("form.filters button[type=reset]")
    page.wait_for_function("location.hash === '#measurements'")
    assert visible_rows(page) == everything


@pytest.mark.parametrize("name", ["lesson", "part", "kind", "verdict", "agreement"])
def test_each_facet_filters(visit, name):
    page = visit()
    values = page.locator(f"#filter-{name} option").evaluate_all("all => all.map((each) => each.value)")[1:]
    assert len(values) > 1
    counts = []
    for value in values:
        page.select_option(f"#filter-{name}", value)
        counts.append(visible_rows(page))
    assert all(counts)


def test_a_number_can_be_looked_up_from_the_first_screen(visit):
    page = visit()
    page.fill("#find", "6.320e-28")
    page.keyboard.press("Enter")
    assert 0 < visible_rows(page) < 50
    assert page.locator("#filter-text").input_value() == "6.320e-28"
    assert page.evaluate("document.activeElement.id") == "filter-text"


def test_columns_sort_up_down_and_back(visit):
    page = visit()
    header = page.locator("table.all thead th").nth(4)

    def measured():
        return page.locator("table.all tbody tr td:nth-child(5) data").evaluate_all(
            "all => all.map((each) => Number(each.value))"
        )

    before = measured()
    header.locator("button").click()
    assert header.get_attribute("aria-sort") == "ascending"
    assert measured() == sorted(before)
    header.locator("button").press("Enter")
    assert header.get_attribute("aria-sort") == "descending"
    assert measured() == sorted(before, reverse=True)
    header.locator("button").press("Space")
    assert header.get_attribute("aria-sort") is None
    assert measured() == before


def test_missing_values_sort_last_either_way(visit):
    page = visit()
    button = page.locator("table.all thead th").nth(3).locator("button")
    for _ in range(2):
        button.click()
        last = page.locator("table.all tbody tr").last.locator("td").nth(2)
        assert "—" in last.inner_text()


def test_a_copied_row_holds_every_digit(visit, reports):
    page = visit(permissions=["clipboard-read", "clipboard-write"])
    page.fill("#filter-text", "gradient, length 100")
    page.locator("table.all button.copy:visible").first.click()
    page.wait_for_function("document.querySelector('.matches').textContent === 'Row copied'")
    header, row = page.evaluate("navigator.clipboard.readText()").splitlines()
    copied = dict(zip(header.split("\t"), row.split("\t"), strict=True))
    assert copied["measured"] == "6.3199871e-28"
    csv = (reports["small"] / "measurements.csv").read_text(encoding="utf-8")
    assert header.replace("\t", ",") == csv.splitlines()[0]


@pytest.mark.parametrize("javascript", [True, False])
@pytest.mark.parametrize("selector", ["article", ".figures tbody tr", "section"])
def test_deep_links_lead_to_their_place(visit, selector, javascript):
    name = visit(java_script_enabled=javascript).locator(selector + "[id]").nth(7).get_attribute("id")
    page = visit(fragment=f"#{name}", java_script_enabled=javascript)
    box = page.locator(f'[id="{name}"]').bounding_box()
    assert -5 <= box["y"] < 500


def test_the_page_is_complete_without_scripts(visit, reports):
    page = visit(java_script_enabled=False)
    csv = (reports["small"] / "measurements.csv").read_text(encoding="utf-8")
    assert visible_rows(page) == len(csv.splitlines()) - 1
    assert page.locator("form:visible, button:visible").count() == 0
    claims = (reports["small"] / "claims.csv").read_text(encoding="utf-8")
    assert page.locator("article:visible").count() == len(claims.splitlines()) - 1
    assert page.locator("svg.plot:visible").count() > 2


def test_texts_that_look_like_code_do_nothing(visit):
    page = visit("nasty")
    assert page.title() not in ("1", "2")
    assert page.locator("img").count() == 0


def test_everything_can_be_reached_from_the_keyboard(visit):
    page = visit()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('#overview') !== null")
    assert page.locator("[tabindex]:not([tabindex='0'])").count() == 0


def test_paper_gets_the_folded_figures_and_no_controls(visit):
    page = visit()
    page.emulate_media(media="print")
    assert page.locator("form:visible, nav:visible, button.copy:visible").count() == 0
    assert page.locator("details.fold table").first.is_visible()


def test_the_browser_runs_no_script_but_the_page_s_own(browser, reports):
    page = browser.new_page()
    page.goto((reports["small"] / "index.html").as_uri())
    assert page.locator("form.filters").is_visible()
    page.evaluate(
        """() => {
            const script = document.createElement("script");
            script.textContent = "window.intruder = true";
            document.body.append(script);
            document.body.setAttribute("onclick", "window.intruder = true");
            document.body.click();
            const image = document.createElement("img");
            image.src = "https://example.org/a.png";
            document.body.append(image);
        }"""
    )
    assert page.evaluate("window.intruder") is None
    page.close()
