"use strict";
const table = document.getElementById("tensors");
const NUMBERS = new Set([0, 5, 7, 8, 9, 10]);

function valueOf(row, column) {
  const text = row.cells[column].textContent;
  if (!NUMBERS.has(column)) return text;
  const number = text === "inf" ? Infinity : parseFloat(text);
  return Number.isNaN(number) ? -1 : number;
}

function sorted(rows, column, down) {
  const pairs = rows.map((row) => [valueOf(row, column), row]);
  pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0) * (down ? -1 : 1));
  return pairs.map(([, row]) => row);
}

function prepareTable() {
  const body = table.tBodies[0];
  const filter = document.getElementById("filter");
  const only = document.getElementById("only");
  const all = document.getElementById("all");
  const headings = Array.from(table.tHead.rows[0].cells);
  const texts = new Map();
  let rows = Array.from(body.rows);
  let most = Number(table.dataset.shown);

  function textOf(row) {
    if (!texts.has(row)) texts.set(row, (row.cells[1].textContent + " " + row.cells[2].textContent).toLowerCase());
    return texts.get(row);
  }

  function show() {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const row of rows) {
      const wanted = (!only.checked || row.className === "differs") && words.every((word) => textOf(row).includes(word));
      count += wanted;
      row.hidden = !wanted || count > most;
    }
    document.getElementById("shown").textContent = `${Math.min(count, most)} of ${count}`;
    all.hidden = count <= most;
  }

  headings.forEach((heading, column) => heading.querySelector("button").addEventListener("click", () => {
    const before = heading.getAttribute("aria-sort");
    const down = before === "none" ? NUMBERS.has(column) && column > 0 : before === "ascending";
    for (const other of headings) other.setAttribute("aria-sort", "none");
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    rows = sorted(rows, column, down);
    body.replaceChildren(...rows);
    show();
  }));
  filter.addEventListener("input", show);
  only.addEventListener("change", show);
  all.addEventListener("click", () => {
    most = Infinity;
    show();
  });
  document.querySelector(".filter").addEventListener("submit", (event) => event.preventDefault());
  show();
}

function prepareLinks() {
  for (const link of document.querySelectorAll('a[href^="#row"]')) {
    link.addEventListener("click", () => {
      const row = document.querySelector(link.getAttribute("href"));
      row.hidden = false;
      row.tabIndex = -1;
      row.focus();
    });
  }
}

function preparePoints() {
  const points = Array.from(document.querySelectorAll("svg a"));
  const steps = { ArrowRight: 1, ArrowLeft: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };
  points.forEach((point, place) => {
    point.setAttribute("tabindex", place ? "-1" : "0");
    point.addEventListener("keydown", (event) => {
      if (!(event.key in steps)) return;
      event.preventDefault();
      const next = points[Math.min(Math.max(place + steps[event.key], 0), points.length - 1)];
      point.setAttribute("tabindex", "-1");
      next.setAttribute("tabindex", "0");
      next.focus();
    });
  });
}

if (table) prepareTable();
prepareLinks();
preparePoints();
