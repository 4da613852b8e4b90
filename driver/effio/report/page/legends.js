// SPDX-License-Identifier: BSD-3-Clause
// Legends: HTML, so that they wrap, print and can be reached by keyboard. The numbers of a figure or a table as CSV.

const shapes = {
  circle: "M6 2a4 4 0 1 0 .01 0z", square: "M2.5 2.5h7v7h-7z", diamond: "M6 1l5 5-5 5-5-5z",
  "triangle-up": "M6 1.5l5 8.5H1z", cross: "M4.5 1h3v3.5H11v3H7.5V11h-3V7.5H1v-3h3.5z",
  "triangle-down": "M6 10.5L1 2h10z", star: "M6 .8l1.5 3.6 3.8.3-2.9 2.5.9 3.8L6 9 2.7 11l.9-3.8L.7 4.7l3.8-.3z",
  x: "M3 1l3 3 3-3 2 2-3 3 3 3-2 2-3-3-3 3-2-2 3-3-3-3z",
};

function swatch(series, kind) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("width", series.form === "limit" ? "22" : "12");
  svg.setAttribute("height", "12");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  if (series.form === "limit") {
    path.setAttribute("d", "M0 6h22");
    path.setAttribute("stroke", color(series));
    path.setAttribute("stroke-width", "2");
    path.setAttribute("stroke-dasharray", ["5 3", "2 2", "5 2 1 2", "9 3", "9 2 2 2"][series.round % 5]);
  } else {
    path.setAttribute("d", kind === "curves" || kind === "radar" ? shapes[symbols[series.symbol]] : shapes.square);
    path.setAttribute("fill", color(series));
  }
  svg.append(path);
  return svg;
}

function legends(state) {
  const { figure } = state;
  const panels = figure.variants[state.variant].panels;
  const bands = figure.bands.length ? figure.bands : [["", panels.length]];
  const lines = [];
  let next = 0;
  for (const [title, count] of bands) {
    const entries = new Map();
    for (const panel of panels.slice(next, next + count)) {
      for (const s of panel.series) if (!entries.has(s.key)) entries.set(s.key, s);
    }
    next += count;
    if (entries.size === 0 || (entries.size === 1 && !title && figure.kind !== "stacked")) continue;
    const line = document.createElement("div");
    line.className = "legend";
    if (title) {
      const band = document.createElement("span");
      band.className = "band";
      band.textContent = `${title.split(",")[0]}:`;
      line.append(band);
    }
    for (const s of entries.values()) {
      const button = document.createElement("button");
      button.type = "button";
      button.title = "Show or hide";
      button.append(swatch(s, figure.kind), document.createTextNode(s.name));
      button.classList.toggle("off", state.hidden.has(s.key));
      button.setAttribute("aria-pressed", String(!state.hidden.has(s.key)));
      button.addEventListener("click", () => {
        if (!state.hidden.delete(s.key)) state.hidden.add(s.key);
        update(state);
      });
      line.append(button);
    }
    lines.push(line);
  }
  state.element.querySelector(".legends").replaceChildren(...lines);
}

function update(state) {
  legends(state);
  return draw(state);
}

// A leading = + - @ would be run as a formula by spreadsheets; numbers may begin with a minus.
function csvCell(text, isNumber) {
  const guarded = !isNumber && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}

function csvOf(table) {
  const heads = [...table.tHead.rows[0].cells].map((c) => csvCell(c.dataset.h, false));
  const rows = [...table.tBodies[0].rows].map((row) =>
    [...row.cells].map((c) => csvCell(c.dataset.v ?? (c.classList.contains("n") ? "" : c.textContent), "v" in c.dataset)));
  return [heads, ...rows].map((r) => r.join(",")).join("\n") + "\n";
}

function download(name, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  link.download = `${name}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
