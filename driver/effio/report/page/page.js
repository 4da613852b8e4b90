// SPDX-License-Identifier: BSD-3-Clause
// Draws the figures of a report with Plotly, and makes its switches work. Figures arrive as data
// (effio/report/draw.py); every text in them is foreign and is escaped before Plotly sees it.
"use strict";
(() => {
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const root = document.documentElement;

  // Okabe and Ito's colours, tuned for contrast on either ground; shapes differ as well.
  const palettes = {
    light: ["#0067a8", "#c85200", "#00835c", "#b0578d", "#9a6f00", "#3a93c9", "#6b4fa0", "#5b6570"],
    dark: ["#58b4ee", "#ff9e5e", "#3ecf9f", "#ee9ccb", "#e6bd4a", "#a5dcff", "#b7a1ef", "#aab4bf"],
  };
  const symbols = ["circle", "square", "diamond", "triangle-up", "cross", "triangle-down", "star", "x"];
  // Accesses (10…) have their own order, so that types and accesses do not look alike.
  const shift = (style) => (style >= 10 ? (style - 10) * 3 % 8 : style % 8);
  const dashes = ["dash", "dot", "dashdot"];

  const theme = () => root.dataset.theme || "light";
  const css = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  // Limits (20…) are not data: they differ by their dashes only.
  const color = (style) => (style >= 20 ? css("--soft") : palettes[theme()][shift(style)]);
  // Plotly would take dollars for mathematics.
  const escape = (text) => String(text).replace(/[&<>"'$]/g, (c) => `&#${c.charCodeAt(0)};`);

  function tickStyle(axis) {
    if (axis.ticks.length) {
      return { tickmode: "array", tickvals: axis.ticks.map((t) => t[0]), ticktext: axis.ticks.map((t) => escape(t[1])) };
    }
    if (axis.unit === "1") return {};
    return { tickformat: "~s", ticksuffix: axis.unit, ...(axis.scale === "log" ? { dtick: 1 } : {}) };
  }

  function axisLayout(axis, more) {
    return {
      type: axis.scale, zeroline: false, gridcolor: css("--line"), linecolor: css("--line"),
      tickfont: { size: 11 }, automargin: false, fixedrange: false, ...tickStyle(axis), ...more,
    };
  }

  /** Rows of panels: as the figure's bands say, broken where the page is narrow. */
  function rowsOf(figure, panels, width) {
    const fit = Math.max(1, Math.floor(width / 185));
    const bands = figure.bands.length ? figure.bands : [["", panels.length]];
    const rows = [];
    let next = 0;
    for (const [title, count] of bands) {
      const perRow = Math.max(1, Math.min(count, figure.bands.length ? count : figure.columns, fit));
      for (let i = 0; i < count && next < panels.length; i += perRow) {
        const row = panels.slice(next, next + Math.min(perRow, count - i));
        rows.push({ title: i === 0 ? title : "", panels: row, perRow });
        next += row.length;
      }
    }
    return rows;
  }

  function curveTraces(figure, series, index, hidden) {
    const tint = color(series.style);
    if (series.form === "limit") {
      return {
        type: "scatter", mode: "lines", x: series.x, y: series.y, name: escape(series.name),
        line: { color: tint, width: 1.6, dash: dashes[series.style % 3] },
        hoverinfo: "text", hovertext: series.x.map(() => escape(series.name)), showlegend: false,
        visible: !hidden.has(series.style),
      };
    }
    const symbol = symbols[shift(series.style)];
    const trace = {
      type: "scatter", mode: series.form === "points" ? "markers" : "lines+markers",
      x: series.x, y: series.y, name: escape(series.name), connectgaps: false,
      line: { color: tint, width: 1.8 },
      marker: {
        color: tint, size: 7.5, line: { width: 1, color: tint },
        symbol: series.y.map((_, i) => (series.faulty[i] ? `${symbol}-open` : symbol)),
      },
      hovertext: series.hover.map(escape).map((t) => t.replaceAll("\n", "<br>")), hoverinfo: "text",
      showlegend: false, visible: !hidden.has(series.style),
    };
    if (series.high.length) {
      trace.error_y = {
        type: "data", symmetric: false, thickness: 1.2, width: 3, color: tint,
        array: series.y.map((y, i) => (y === null || series.high[i] == null ? 0 : series.high[i] - y)),
        arrayminus: series.y.map(() => 0),
      };
    }
    return trace;
  }

  function barTrace(figure, series, hidden) {
    const stacked = figure.kind === "stacked";
    return {
      type: "bar", orientation: stacked ? "h" : "v", name: escape(series.name),
      x: stacked ? series.y : series.x.map(escape), y: stacked ? series.x.map(escape) : series.y,
      marker: { color: color(series.style), line: { width: 0.6, color: css("--card") } },
      hovertext: series.hover.map(escape).map((t) => t.replaceAll("\n", "<br>")), hoverinfo: "text",
      textposition: "none", showlegend: false, visible: !hidden.has(series.style),
    };
  }

  /** `range` is that of all panels of the figure: equal colours are equal values. */
  function heatTrace(figure, panel, range, first) {
    return {
      type: "heatmap", colorscale: "Cividis", z: panel.values, showscale: first,
      zmin: range[0], zmax: range[1],
      x: panel.xLabels.map(escape), y: panel.yLabels.map(escape),
      text: panel.hover.map((row) => row.map(escape)), hoverinfo: "text", xgap: 1, ygap: 1,
      colorbar: { thickness: 12, tickformat: "~s", ticksuffix: figure.y.unit === "1" ? "" : figure.y.unit },
    };
  }

  function draw(state) {
    const { figure, plot } = state;
    const width = plot.clientWidth || 900;
    const panels = figure.variants[state.variant].panels;
    const rows = rowsOf(figure, panels, width);
    const scaleY = figure.y.switch ? state.scale : figure.y.log ? "log" : "linear";
    const x = { ...figure.x, scale: figure.x.log ? "log" : figure.kind === "curves" ? "linear" : "category" };
    // The unit of a heat map is that of its colours, not of its rows.
    const y = { ...figure.y, scale: scaleY, ...(figure.kind === "heatmap" ? { unit: "1" } : {}) };
    const stacked = figure.kind === "stacked";
    const gapY = figure.bands.length || panels.some((p) => p.title) ? 78 : 60;
    const margin = { l: 8, r: 12, t: figure.bands.length ? 44 : 26, b: 8 };
    const height = rows.length * (figure.panelHeight + gapY) + margin.t - 16;
    const inner = height - margin.t - margin.b;
    const layout = {
      height, width, margin, showlegend: false, hovermode: "closest",
      paper_bgcolor: css("--card"), plot_bgcolor: css("--card"), barmode: stacked ? "stack" : "group",
      bargap: 0.25, font: { family: "system-ui, sans-serif", size: 12, color: css("--ink") },
      hoverlabel: { align: "left", bgcolor: css("--card"), bordercolor: css("--soft"), font: { color: css("--ink"), size: 12 } },
      annotations: [],
    };
    const traces = [];
    const told = panels.flatMap((p) => p.values.flat()).filter((v) => v !== null);
    const colours = [
      figure.y.low ?? told.reduce((a, b) => Math.min(a, b), Infinity),
      figure.y.high ?? told.reduce((a, b) => Math.max(a, b), -Infinity),
    ];
    const innerWidth = width - 20;
    const longest = stacked || figure.kind === "heatmap"
      ? Math.max(0, ...panels.flatMap((p) => [...p.yLabels, ...p.series.flatMap((s) => (stacked ? s.x : []))]).map((t) => String(t).length))
      : 0;
    const left = (stacked || figure.kind === "heatmap" ? Math.min(190, 20 + 7 * longest) : 74) / innerWidth;
    let number = 0;
    rows.forEach((row, r) => {
      const top = 1 - (r * (figure.panelHeight + gapY)) / inner;
      const bottom = top - figure.panelHeight / inner;
      const gap = 14 / innerWidth;
      const cell = (1 - left - gap * (row.perRow - 1)) / row.perRow;
      if (row.title) {
        layout.annotations.push({
          text: escape(row.title), x: 0, y: top, xref: "paper", yref: "paper", xanchor: "left", yanchor: "bottom",
          yshift: 21, showarrow: false, font: { size: 12, color: css("--soft") },
        });
      }
      row.panels.forEach((panel, c) => {
        number += 1;
        const id = number === 1 ? "" : String(number);
        const begin = left + c * (cell + gap);
        const domainX = [begin, Math.min(1, begin + cell)];
        const last = r === rows.length - 1 || !figure.bands.length;
        layout[`xaxis${id}`] = axisLayout(stacked ? { ...y, scale: "linear" } : x, {
          domain: domainX, anchor: `y${id}`,
          tickangle: x.ticks.length * 55 > cell * innerWidth ? -45 : x.ticks.length ? 0 : "auto",
          ...(stacked ? { tickformat: ".0%", range: [0, 1.002] } : {}),
          ...(!stacked && figure.x.low !== null ? { range: [figure.x.low, figure.x.high] } : {}),
          ...(!stacked && number > 1 && figure.x.low === null ? { matches: "x" } : {}),
          ...(last && !stacked ? { title: { text: escape(figure.x.title), font: { size: 12, color: css("--soft") }, standoff: 8 } } : {}),
        });
        layout[`yaxis${id}`] = axisLayout(stacked ? { ...x, scale: "category" } : y, {
          domain: [Math.max(0, bottom), top], anchor: `x${id}`, showticklabels: c === 0,
          ...(stacked || figure.kind === "heatmap" ? { type: "category", autorange: "reversed" } : {}),
          ...(number > 1 && !stacked && figure.kind !== "heatmap" ? { matches: "y" } : {}),
          ...(scaleY === "linear" && !stacked && figure.kind !== "heatmap" ? { rangemode: "tozero" } : {}),
          ...(c === 0 && !stacked ? { title: { text: escape(figure.y.title), font: { size: 12, color: css("--soft") }, standoff: 4 } } : {}),
        });
        if (panel.title) {
          layout.annotations.push({
            text: `<b>${escape(panel.title)}</b>`, x: domainX[0], y: top, xref: "paper", yref: "paper",
            xanchor: "left", yanchor: "bottom", yshift: 2, showarrow: false, font: { size: 12 },
          });
        }
        const here = { xaxis: `x${id}`, yaxis: `y${id}` };
        if (figure.kind === "heatmap") traces.push({ ...heatTrace(figure, panel, colours, number === 1), ...here });
        panel.series.forEach((series, i) => {
          const trace = figure.kind === "curves"
            ? curveTraces(figure, series, i, state.hidden) : barTrace(figure, series, state.hidden);
          traces.push({ ...trace, ...here });
        });
      });
    });
    const config = {
      displaylogo: false, responsive: false, modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
      toImageButtonOptions: { format: "svg", filename: figure.id },
    };
    return Plotly.react(plot, traces, layout, config);
  }

  // Legends: HTML, so that they wrap, print and can be reached by keyboard -----------------------

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
      path.setAttribute("stroke", color(series.style));
      path.setAttribute("stroke-width", "2");
      path.setAttribute("stroke-dasharray", ["5 3", "2 2", "5 2 1 2"][series.style % 3]);
    } else {
      path.setAttribute("d", kind === "curves" ? shapes[symbols[shift(series.style)]] : shapes.square);
      path.setAttribute("fill", color(series.style));
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
        for (const s of panel.series) if (!entries.has(s.style)) entries.set(s.style, s);
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
        button.classList.toggle("off", state.hidden.has(s.style));
        button.setAttribute("aria-pressed", String(!state.hidden.has(s.style)));
        button.addEventListener("click", () => {
          if (!state.hidden.delete(s.style)) state.hidden.add(s.style);
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

  // CSV ------------------------------------------------------------------------------------------

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

  // Switches -------------------------------------------------------------------------------------

  const states = [];
  for (const element of document.querySelectorAll("figure.figure")) {
    const state = {
      figure: figures[element.id], element, plot: element.querySelector(".plot"), variant: 0, scale: "log", hidden: new Set(),
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
      const table = element.querySelector(".as-table");
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
      download(button.dataset.name, csvOf(block.querySelector("table")));
    });
  }

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
    resized = setTimeout(drawAll, 150);
  });
  let before = "";
  window.addEventListener("beforeprint", () => {
    before = theme();
    setTheme("light");
  });
  window.addEventListener("afterprint", () => setTheme(before));
  setTheme(window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")
    .then(() => { root.dataset.drawn = String(states.length); });
})();
