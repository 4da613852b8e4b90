// SPDX-License-Identifier: BSD-3-Clause
// Makes the switches of a report work and draws its figures, which arrive as data (effio/report/draw.py).
// effio/report/html.py puts the files of this folder into one function.

let figures = {};

/** The element for a figure's numbers, filled with the table: markup that effio made and escaped. */
function filled(element) {
  const place = element.querySelector(".as-table");
  if (!place.firstChild) place.innerHTML = figures[element.id]?.table ?? "";
  return place;
}

const states = [];
for (const element of document.querySelectorAll("figure.figure")) {
  const state = {
    get figure() { return figures[element.id]; },
    element, plot: element.querySelector(".plot"), variant: 0, scale: "log", hidden: new Set(),
  };
  states.push(state);
  element.querySelector(".variant")?.addEventListener("change", (event) => {
    state.variant = Number(event.target.value);
    update(state);
  });
  for (const button of element.querySelectorAll(".scale")) {
    button.addEventListener("click", () => {
      state.scale = button.dataset.scale;
      for (const b of element.querySelectorAll(".scale")) {
        b.classList.toggle("on", b === button);
        b.setAttribute("aria-pressed", String(b === button));
      }
      draw(state);
    });
  }
  element.querySelector(".view").addEventListener("click", (event) => {
    const table = filled(element);
    const asTable = table.hidden;
    table.hidden = !asTable;
    state.plot.hidden = asTable;
    element.querySelector(".legends").hidden = asTable;
    event.target.classList.toggle("on", asTable);
    event.target.setAttribute("aria-pressed", String(asTable));
    event.target.textContent = asTable ? "Figure" : "Table";
    if (!asTable) draw(state);
  });
}
for (const button of document.querySelectorAll("button.csv")) {
  button.addEventListener("click", () => {
    const block = button.closest("figure, .table-block");
    if (block.matches("figure")) filled(block);
    download(button.dataset.name, csvOf(block.querySelector("table")));
  });
}

for (const button of document.querySelectorAll("button.all")) {
  button.addEventListener("click", () => {
    const fewer = button.closest(".table-block").classList.toggle("fewer");
    button.setAttribute("aria-pressed", String(!fewer));
    button.textContent = fewer ? "All columns" : "Fewer columns";
    markScrolling();
  });
}
/** A table that is larger than its card shows that there is more. */
function markScrolling() {
  for (const box of document.querySelectorAll(".scroll")) {
    const right = !box.hidden && box.scrollWidth > box.clientWidth + box.scrollLeft + 2;
    const below = !box.hidden && box.scrollHeight > box.clientHeight + box.scrollTop + 2;
    box.classList.toggle("right", right);
    box.classList.toggle("below", below);
    const note = box.parentElement.querySelector(".beyond");
    const more = [...(right ? ["more columns →"] : []), ...(below ? ["more rows ↓"] : [])].join(", ");
    if (note) note.textContent = more && `scroll the table: ${more}`;
  }
}
document.addEventListener("scroll", markScrolling, { capture: true, passive: true });

const drawAll = () => Promise.all(states.filter((s) => !s.plot.hidden).map(update));
function setTheme(name) {
  root.dataset.theme = name;
  return drawAll();
}
document.getElementById("theme").addEventListener("click", () => setTheme(theme() === "dark" ? "light" : "dark"));
let resized = 0;
let width = window.innerWidth;
window.addEventListener("resize", () => {
  if (window.innerWidth === width) return;
  width = window.innerWidth;
  clearTimeout(resized);
  resized = setTimeout(() => { markScrolling(); drawAll(); }, 150);
});
let before = "";
window.addEventListener("beforeprint", () => {
  before = theme();
  printing = true;
  setTheme("light");
});
window.addEventListener("afterprint", () => {
  printing = false;
  setTheme(before);
});

async function loadPlotly() {
  if (!document.getElementById("plotly")) return;
  figures = JSON.parse(await unpacked("figures"));
  const script = document.createElement("script");
  script.textContent = await unpacked("plotly");
  document.head.append(script);
  script.remove();
  if (typeof Plotly === "undefined") throw new Error("the library that draws does not run here");
}

/** Shows the figures' numbers in a browser that cannot draw. */
function showTables() {
  for (const state of states) {
    state.plot.hidden = true;
    filled(state.element).hidden = false;
    state.element.querySelector(".view").hidden = true;
  }
}

const preferred = window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
root.dataset.theme = preferred;
loadPlotly()
  .then(() => setTheme(preferred), showTables)
  .then(() => { markScrolling(); root.dataset.drawn = String(states.length); });
