"use strict";
const table = document.getElementById("tensors");
const body = table.tBodies[0];
const all = Array.from(body.rows);
const filter = document.getElementById("filter");
const only = document.getElementById("only");

function show() {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const row of all) {
    const text = (row.cells[1].textContent + " " + row.cells[2].textContent).toLowerCase();
    const wanted = words.every((word) => text.includes(word)) && (!only.checked || row.classList.contains("differs"));
    row.hidden = !wanted;
    count += wanted;
  }
  document.getElementById("shown").textContent = `${count} of ${all.length}`;
}

function valueOf(cell) {
  const text = cell.dataset.value ?? cell.textContent.trim();
  const number = text === "inf" ? Infinity : parseFloat(text);
  return cell.classList.contains("n") ? (Number.isNaN(number) ? -1 : number) : text;
}

function sortBy(column, heading) {
  const down = heading.getAttribute("aria-sort") !== "descending" && column > 4 && column < 11
    || heading.getAttribute("aria-sort") === "ascending";
  for (const other of table.tHead.rows[0].cells) other.setAttribute("aria-sort", "none");
  heading.setAttribute("aria-sort", down ? "descending" : "ascending");
  const rows = all.map((row) => [valueOf(row.cells[column]), row]);
  const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
  rows.sort(([a], [b]) => (down ? order(b, a) : order(a, b)));
  body.append(...rows.map(([, row]) => row));
}

Array.from(table.tHead.rows[0].cells).forEach((heading, column) =>
  heading.querySelector("button").addEventListener("click", () => sortBy(column, heading)));
filter.addEventListener("input", show);
only.addEventListener("change", show);
document.querySelector(".filter").addEventListener("submit", (event) => event.preventDefault());
for (const point of document.querySelectorAll("circle[data-row]")) {
  point.addEventListener("click", () => {
    const row = document.getElementById("row" + point.dataset.row);
    for (const other of all) other.classList.toggle("marked", other === row);
    row.hidden = false;
    row.scrollIntoView({ block: "center" });
  });
}
show();
