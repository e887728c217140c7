// Sorting, filtering, copying and linking for the table of measurements. Without this script the page is complete.
"use strict";

const table = document.querySelector("table.all");
const form = document.querySelector("form.filters");

if (table) {
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const texts = rows.map((row) => `${row.textContent} ${row.dataset.row} ${row.dataset.part}`.toLowerCase());
  const status = form.querySelector(".matches");

  function filter() {
    const wanted = [...new FormData(form)].filter(([, value]) => value);
    const words = (form.elements.text.value.toLowerCase().match(/\S+/g) || []);
    let shown = 0;
    rows.forEach((row, place) => {
      const fits = words.every((word) => texts[place].includes(word))
        && wanted.every(([name, value]) => name === "text" || row.dataset[name] === value);
      row.hidden = !fits;
      shown += fits;
    });
    status.textContent = shown === rows.length ? `${shown} rows` : `${shown} of ${rows.length} rows`;
    const query = new URLSearchParams(wanted).toString();
    return query ? `#measurements?${query}` : "#measurements";
  }

  function remember(address) {
    history.replaceState(null, "", address);
  }

  function choose(query) {
    form.reset();
    for (const [name, value] of new URLSearchParams(query)) {
      if (form.elements[name]) form.elements[name].value = value;
    }
    remember(filter());
    document.getElementById("measurements").scrollIntoView();
  }

  form.hidden = false;
  form.addEventListener("input", () => remember(filter()));
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(() => remember(filter())));

  for (const link of document.querySelectorAll("a[data-filter]")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      choose(link.dataset.filter);
      form.elements.text.focus({ preventScroll: true });
    });
  }

  const find = document.querySelector("form.find");
  find.hidden = false;
  find.addEventListener("submit", (event) => {
    event.preventDefault();
    choose(new URLSearchParams({ text: find.elements.find.value }));
    form.elements.text.focus({ preventScroll: true });
  });

  // Sorting: up, down, then the page's own order again. Missing values stay at the end.
  function key(row, column) {
    const cell = row.cells[column];
    if (cell.querySelector(".missing")) return null;
    const data = cell.querySelector("data");
    const text = data ? data.value : cell.textContent.trim();
    return text !== "" && !Number.isNaN(Number(text)) ? Number(text) : text;
  }

  function compare(one, other) {
    if (typeof one === "number" && typeof other === "number") return one - other;
    if (typeof one !== typeof other) return typeof one === "number" ? -1 : 1;
    return one.localeCompare(other, "en", { numeric: true });
  }

  const headers = [...table.tHead.rows[0].cells];
  headers.forEach((header, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...header.childNodes);
    header.append(button);
    button.addEventListener("click", () => {
      const before = header.getAttribute("aria-sort");
      const order = { ascending: "descending", descending: null }[before] ?? (before ? null : "ascending");
      headers.forEach((each) => each.removeAttribute("aria-sort"));
      if (!order) {
        body.append(...rows);
        return;
      }
      header.setAttribute("aria-sort", order);
      const sign = order === "ascending" ? 1 : -1;
      const keyed = rows.map((row) => [key(row, column), row]);
      const present = keyed.filter(([value]) => value !== null);
      present.sort(([one], [other]) => sign * compare(one, other));
      body.append(...present.map(([, row]) => row), ...keyed.filter(([value]) => value === null).map(([, row]) => row));
    });
  });

  // Copying: the row as in measurements.csv, with every digit, and the names of its columns.
  const names = document.createElement("th");
  names.scope = "col";
  names.textContent = "Copy";
  table.tHead.rows[0].append(names);
  for (const row of rows) {
    const cell = document.createElement("td");
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "copy";
    button.setAttribute("aria-label", `copy ${row.cells[1].textContent.trim()}`);
    cell.append(button);
    row.append(cell);
  }
  body.addEventListener("click", async (event) => {
    const button = event.target.closest("button.copy");
    if (!button) return;
    const text = `${table.dataset.columns}\n${button.closest("tr").dataset.row}\n`;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "copied";
    } catch {
      button.textContent = "not allowed";
    }
    status.textContent = button.textContent === "copied" ? "Row copied" : "This browser does not allow copying here";
  });

  function follow() {
    const [, query] = decodeURI(location.hash).split("#measurements?");
    if (query) choose(query);
  }
  window.addEventListener("hashchange", follow);
  follow();
}
