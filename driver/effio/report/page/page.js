// SPDX-License-Identifier: BSD-3-Clause
// Draws the figures of a report with Plotly, and makes its switches work. Figures arrive as data
// (effio/report/draw.py); every text in them is foreign and is escaped before Plotly sees it.
"use strict";
(() => {
  let figures = {};
  const root = document.documentElement;

  // Okabe and Ito's colours, tuned for contrast on either ground; shapes differ as well.
  const palettes = {
    light: ["#0067a8", "#c85200", "#00835c", "#b0578d", "#9a6f00", "#3a93c9", "#6b4fa0", "#5b6570"],
    dark: ["#58b4ee", "#ff9e5e", "#3ecf9f", "#ee9ccb", "#e6bd4a", "#a5dcff", "#b7a1ef", "#aab4bf"],
  };
  const symbols = ["circle", "square", "diamond", "triangle-up", "cross", "triangle-down", "star", "x"];
  const dashes = ["dash", "dot", "dashdot", "longdash", "longdashdot"];
  const rounds = ["solid", "dot", "dash", "longdash", "dashdot"];
  const hatches = ["", "/", "x", ".", "-"];

  const theme = () => root.dataset.theme || "light";
  const css = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  // Limits are not data: they differ by their dashes only.
  const color = (series) => (series.form === "limit" ? css("--soft") : palettes[theme()][series.colour]);
  // Plotly would take dollars for mathematics.
  const escape = (text) => String(text).replace(/[&<>"'$]/g, (c) => `&#${c.charCodeAt(0)};`);

  // Axes: limits and labels come with the data; here is decided which labels have room ------------

  const LETTER = 6.1;  // width of a letter of 11 px, on average
  const LINE = 14;
  const lines = (text) => String(text).split("\n");
  const widthOf = (text) => LETTER * Math.max(0, ...lines(text).map((l) => l.length));

  /** Long names in lines of at most `room` letters, three at most. */
  function wrapped(text, room) {
    const out = [""];
    for (const word of String(text).split(/(?<=[ ,/+])/)) {
      if (out.at(-1) && (out.at(-1) + word).trimEnd().length > room) out.push("");
      out[out.length - 1] += word;
    }
    const short = out.map((l) => l.trim()).map((l) => (l.length > room ? `${l.slice(0, room - 1)}…` : l));
    return (short.length > 3 ? [...short.slice(0, 2), `${short[2].slice(0, room - 1)}…`] : short).join("\n");
  }

  /** Where on an axis of `length` pixels a value stands. */
  function place(value, range, log, length) {
    const f = log ? Math.log10 : (v) => v;
    return (f(value) - f(range[0])) / (f(range[1]) - f(range[0])) * length;
  }

  /** Labels that do not touch: level if all fit, else slanting, else as many as have room. */
  function labelled(scale, log, length, upright) {
    const inside = scale.ticks.map(([at, text]) => ({ at, text: String(text), px: place(at, scale.range, log, length) }))
      .filter((t) => t.px > -1 && t.px < length + 1);
    const fits = (size) => inside.every((t, i) => i === 0 || t.px - inside[i - 1].px >= (size(t) + size(inside[i - 1])) / 2);
    const level = (t) => widthOf(t.text) + 8;
    const angle = upright || fits(level) ? 0 : -45;
    const size = angle || upright ? () => LINE + 1 : level;
    const kept = [];
    for (const t of inside) if (!kept.length || t.px - kept.at(-1).px >= size(t)) kept.push(t);
    const last = kept.at(-1);
    return {
      angle, before: angle ? Math.max(0, ...kept.map((t) => 0.72 * widthOf(t.text) + 6 - t.px)) : 0,
      beyond: last && !angle ? Math.max(0, last.px + widthOf(last.text) / 2 + 4 - length) : 0,
      depth: angle ? 12 + 0.72 * Math.max(0, ...kept.map((t) => widthOf(t.text))) : LINE + 4,
      style: { tickmode: "array", tickvals: kept.map((t) => t.at), ticktext: kept.map((t) => escape(t.text)), tickangle: angle },
    };
  }

  /** The same for names. */
  function named(names, length) {
    const room = length / Math.max(1, names.length);
    const short = names.map((n) => wrapped(n, Math.max(4, Math.floor((room - 6) / LETTER))));
    const whole = short.every((s, i) => s.replaceAll("\n", " ").replaceAll(" ", "") === names[i].replaceAll(" ", ""));
    const each = Math.max(1, Math.ceil((LINE + 1) / room));
    const text = whole ? short : names.map((n, i) => (i % each ? "" : n.length > 24 ? `${n.slice(0, 23)}…` : n));
    const deep = whole ? 6 + LINE * Math.max(1, ...text.map((t) => lines(t).length)) : 12 + 0.72 * Math.max(0, ...text.map(widthOf));
    const before = whole ? 0 : Math.max(0, ...text.map((t, i) => 0.72 * widthOf(t) + 6 - (i + 0.5) * room));
    return {
      depth: deep, before, beyond: 0,
      style: {
        tickmode: "array", tickvals: names.map(escape), tickangle: whole ? 0 : -45,
        ticktext: text.map((t) => escape(t).replaceAll("\n", "<br>")),
      },
    };
  }

  function axisLayout(more) {
    return {
      zeroline: false, gridcolor: css("--line"), linecolor: css("--line"),
      tickfont: { size: 11 }, automargin: false, fixedrange: false, ...more,
    };
  }

  const titled = (text) => ({ text: escape(text), font: { size: 12, color: css("--soft") }, standoff: 6 });
  const ranged = (range, log) => (log ? range.map(Math.log10) : range);

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

  const hovers = (series) => series.hover.map(escape).map((t) => t.replaceAll("\n", "<br>"));

  function whiskers(series, tint) {
    if (!series.high.length) return {};
    return {
      error_y: {
        type: "data", symmetric: false, thickness: 1.2, width: 3, color: tint,
        array: series.y.map((y, i) => (y === null || series.high[i] == null ? 0 : series.high[i] - y)),
        arrayminus: series.y.map((y, i) => (y === null || series.low[i] == null ? 0 : y - series.low[i])),
      },
    };
  }

  function curveTraces(figure, series, hidden) {
    const tint = color(series);
    const visible = !hidden.has(series.key);
    if (series.form === "limit") {
      return {
        type: "scatter", mode: "lines", x: series.x, y: series.y, name: escape(series.name),
        line: { color: tint, width: 1.6, dash: dashes[series.round % dashes.length] },
        hoverinfo: "text", hovertext: series.x.map(() => escape(series.name)), showlegend: false, visible,
      };
    }
    const symbol = symbols[series.symbol];
    return {
      type: "scatter", mode: series.form === "points" ? "markers" : "lines+markers",
      x: series.x.map((x) => (typeof x === "string" ? escape(x) : x)), y: series.y, name: escape(series.name), connectgaps: false,
      line: { color: tint, width: 1.8, dash: rounds[series.round % rounds.length] },
      marker: {
        color: tint, size: series.x.length > 200 ? 4 : 7.5, line: { width: 1, color: tint },
        symbol: series.y.map((_, i) => (series.faulty[i] ? `${symbol}-open` : symbol)),
      },
      hovertext: hovers(series), hoverinfo: "text", showlegend: false, visible, ...whiskers(series, tint),
    };
  }

  function barTrace(figure, series, hidden) {
    const stacked = figure.kind === "stacked";
    const tint = color(series);
    return {
      type: "bar", orientation: stacked ? "h" : "v", name: escape(series.name),
      x: stacked ? series.y : series.x.map(escape), y: stacked ? series.x.map(escape) : series.y,
      marker: {
        color: tint, line: { width: 0.6, color: css("--card") },
        pattern: {
          shape: series.x.map((_, i) => (series.faulty[i] ? "/" : hatches[series.round % hatches.length])),
          fillmode: "overlay", fgcolor: css("--card"), solidity: 0.3,
        },
      },
      hovertext: hovers(series), hoverinfo: "text",
      textposition: "none", showlegend: false, visible: !hidden.has(series.key), ...(stacked ? {} : whiskers(series, css("--ink"))),
    };
  }

  /** `range` is that of all panels of the figure: equal colours are equal values. */
  function heatTrace(panel, range, ticks, first) {
    return {
      type: "heatmap", colorscale: "Cividis", z: panel.values, showscale: first,
      zmin: range[0], zmax: range[1],
      x: panel.xLabels.map(escape), y: panel.yLabels.map(escape),
      hovertext: panel.hover.map((row) => row.map(escape)), hoverinfo: "text", xgap: 1, ygap: 1,
      ...(panel.shown.length ? { text: panel.shown.map((row) => row.map(escape)), texttemplate: "%{text}" } : {}),
      colorbar: { thickness: 12, tickmode: "array", tickvals: ticks.map((t) => t[0]), ticktext: ticks.map((t) => escape(t[1])) },
    };
  }

  const unique = (values) => [...new Set(values)];

  /** Everything about the two axes of each panel that has not to do with where the panel is. */
  function axesOf(figure, variant, panels, log, cell, narrow) {
    const height = figure.panelHeight;
    const categories = unique(panels.flatMap((p) => p.series.flatMap((s) => s.x))).map(String);
    if (figure.kind === "heatmap") {
      const rows = unique(panels.flatMap((p) => p.yLabels));
      const each = Math.max(1, Math.ceil((LINE + 1) * rows.length / height));
      const x = named(unique(panels.flatMap((p) => p.xLabels)), cell);
      return {
        left: 34 + Math.min(150, Math.max(0, ...rows.map(widthOf))), below: x.depth, beyond: 0, before: x.before,
        x: { type: "category", ...x.style },
        y: {
          type: "category", autorange: "reversed", tickmode: "array",
          tickvals: rows.filter((_, i) => i % each === 0).map(escape), ticktext: rows.filter((_, i) => i % each === 0).map(escape),
        },
      };
    }
    if (figure.kind === "stacked") {
      const room = narrow ? 15 : 26;
      const names = categories.map((n) => wrapped(n, room));
      const each = Math.max(1, Math.ceil((LINE + 1) * categories.length / height));
      const x = labelled(variant.y.linear, false, cell, false);
      return {
        left: 14 + Math.max(0, ...names.map(widthOf)), below: x.depth, beyond: x.beyond, before: 0,
        x: { type: "linear", range: variant.y.linear.range, ...x.style },
        y: {
          type: "category", autorange: "reversed", tickmode: "array", tickvals: categories.map(escape),
          ticktext: names.map((n, i) => (i % each ? "" : escape(each > 1 ? lines(n)[0] : n).replaceAll("\n", "<br>"))),
        },
      };
    }
    const scaleY = variant.y[log ? "log" : "linear"];
    const y = labelled(scaleY, log, height, true);
    const byName = figure.kind === "bars" || !variant.x;
    const x = byName ? named(categories, cell) : labelled(variant.x, figure.x.log, cell, false);
    return {
      left: 30 + Math.max(0, ...y.style.ticktext.map(widthOf)), below: x.depth, beyond: x.beyond, before: x.before,
      x: byName ? { type: "category", range: [-0.5, categories.length - 0.5], ...x.style }
        : { type: figure.x.log ? "log" : "linear", range: ranged(variant.x.range, figure.x.log), ...x.style },
      y: { type: log ? "log" : "linear", range: ranged(scaleY.range, log), ...y.style },
    };
  }

  /** A Kiviat diagram: names around, one closed line a series; from zero. In plain coordinates, so
   * that the part of Plotly for such charts is enough; `customdata` holds the values. */
  function drawRadar(state, width) {
    const { figure, plot } = state;
    const { panels, y } = figure.variants[state.variant];
    const room = width < 520 ? 12 : 26;
    const { range, ticks } = y.linear;
    const names = panels[0].series[0].x.map(String);
    const around = (i, length) => {
      const angle = Math.PI / 2 - (2 * Math.PI * i) / names.length;
      return [length * Math.cos(angle), length * Math.sin(angle)];
    };
    const closed = (values) => [...values, values[0]];
    const traces = panels[0].series.map((series) => {
      const tint = color(series);
      const limit = series.form === "limit";
      const dash = limit ? dashes[series.round % dashes.length] : rounds[series.round % rounds.length];
      const at = closed(series.y.map((value, i) => (value === null ? [null, null] : around(i, value / range[1]))));
      return {
        type: "scatter", mode: limit ? "lines" : "lines+markers", name: escape(series.name),
        x: at.map((p) => p[0]), y: at.map((p) => p[1]), customdata: closed(series.y), line: { color: tint, width: 1.8, dash },
        marker: { color: tint, size: 7, symbol: symbols[series.symbol] },
        hovertext: limit ? escape(series.name) : closed(hovers(series)), hoverinfo: "text",
        showlegend: false, visible: !state.hidden.has(series.key),
      };
    });
    const side = Math.max(70, Math.round(0.28 * Math.min(width, 760) - 40));
    const line = { color: css("--line"), width: 1 };
    const rings = ticks.filter(([at]) => at > 0).map(([at]) => ({
      type: "path", layer: "below", line,
      path: `M${names.map((_, i) => around(i, at / range[1]).join(",")).join("L")}Z`,
    }));
    const spokes = names.map((_, i) => {
      const [x, y1] = around(i, 1);
      return { type: "line", layer: "below", line, x0: 0, y0: 0, x1: x, y1 };
    });
    const font = { size: 11, color: css("--ink") };
    const labels = names.map((name, i) => {
      const [x, y1] = around(i, 1);
      const across = Math.abs(x) < 0.2 ? "center" : x > 0 ? "left" : "right";
      return {
        x, y: y1, text: escape(wrapped(name, room)).replaceAll("\n", "<br>"), showarrow: false, font,
        xanchor: across, yanchor: y1 > 0.3 ? "bottom" : y1 < -0.3 ? "top" : "middle", xshift: across === "left" ? 6 : across === "right" ? -6 : 0,
      };
    });
    const steps = ticks.filter(([at]) => at > 0).map(([at, text]) => ({
      x: 0, y: at / range[1], text: escape(text), showarrow: false, xanchor: "left", yanchor: "top", font: { size: 10, color: css("--soft") },
    }));
    const hidden = { visible: false, range: [-1.02, 1.02], fixedrange: true };
    const layout = {
      width, height: printing ? PAPER.height : Math.min(480, 0.75 * width + 90), showlegend: false, hovermode: "closest",
      margin: { l: side, r: side, t: 50, b: 50 }, paper_bgcolor: css("--card"), plot_bgcolor: css("--card"),
      font: { family: "system-ui, sans-serif", size: 11, color: css("--ink") },
      hoverlabel: { align: "left", bgcolor: css("--card"), bordercolor: css("--soft"), font: { color: css("--ink"), size: 12 } },
      shapes: [...rings, ...spokes], annotations: [...steps, ...labels],
      xaxis: hidden, yaxis: { ...hidden, scaleanchor: "x" },
    };
    return Plotly.react(plot, traces, layout, { displaylogo: false, responsive: false, displayModeBar: false });
  }

  function draw(state) {
    const { figure, plot } = state;
    const width = printing ? PAPER.width : plot.clientWidth || 900;
    if (figure.kind === "radar") return drawRadar(state, width);
    const narrow = width < 520;
    const variant = figure.variants[state.variant];
    const { panels } = variant;
    const rows = rowsOf(figure, panels, width);
    const log = figure.y.switch ? state.scale === "log" : figure.y.log;
    const perRow = Math.max(...rows.map((r) => r.perRow));
    const gap = 14;
    // Labels need room, and how much depends on how much there is: twice is enough.
    let axes = axesOf(figure, variant, panels, log, (width - 104) / perRow, narrow);
    const right = figure.kind === "heatmap" ? 90 : Math.max(14, axes.beyond);
    const inner = width - right;
    const cellOf = (n) => (inner - axes.left - gap * (n - 1)) / n;
    axes = axesOf(figure, variant, panels, log, cellOf(perRow), narrow);
    axes.left = Math.max(axes.left, axes.before);
    const above = (panels.some((p) => p.title) ? 20 : 6) + (figure.bands.length ? 20 : 0);
    const below = axes.below + 26;
    // Room of its own for the buttons that Plotly shows on hovering.
    const margin = { l: 0, r: right, t: narrow || printing ? 2 : 28, b: 0 };
    let tall = figure.panelHeight;
    if (printing) tall = Math.max(90, Math.min(tall, PAPER.height / rows.length - above - below));
    const step = above + tall + below;
    const height = rows.length * step + margin.t;
    const body = height - margin.t;
    const layout = {
      height, width, margin, showlegend: false, hovermode: "closest",
      paper_bgcolor: css("--card"), plot_bgcolor: css("--card"), barmode: figure.kind === "stacked" ? "stack" : panels.every((p) => p.single) ? "overlay" : "group",
      bargap: 0.25, font: { family: "system-ui, sans-serif", size: 12, color: css("--ink") },
      hoverlabel: { align: "left", bgcolor: css("--card"), bordercolor: css("--soft"), font: { color: css("--ink"), size: 12 } },
      annotations: [],
    };
    const traces = [];
    const heading = (text, x, y, shift, font) => layout.annotations.push({
      text, x, y, xref: "paper", yref: "paper", xanchor: "left", yanchor: "bottom", yshift: shift, showarrow: false, font,
    });
    const stacked = figure.kind === "stacked";
    let number = 0;
    rows.forEach((row, r) => {
      const top = 1 - (r * step + above) / body;
      const bottom = Math.max(0, top - tall / body);
      const cell = cellOf(row.perRow);
      if (row.title) heading(escape(row.title), 0, top, 21, { size: 12, color: css("--soft") });
      row.panels.forEach((panel, c) => {
        number += 1;
        const id = number === 1 ? "" : String(number);
        const begin = (axes.left + c * (cell + gap)) / inner;
        const domain = [begin, Math.min(1, begin + cell / inner)];
        layout[`xaxis${id}`] = axisLayout({
          domain, anchor: `y${id}`, ...axes.x, ...(number > 1 ? { matches: "x" } : {}),
          title: titled(stacked ? figure.y.title : figure.x.title),
        });
        layout[`yaxis${id}`] = axisLayout({
          domain: [bottom, top], anchor: `x${id}`, showticklabels: c === 0, ...axes.y,
          ...(number > 1 && !stacked && figure.kind !== "heatmap" ? { matches: "y" } : {}),
          ...(c === 0 && !stacked ? { title: titled(figure.y.title) } : {}),
        });
        if (panel.title) heading(`<b>${escape(panel.title)}</b>`, domain[0], top, 2, { size: 12 });
        const here = { xaxis: `x${id}`, yaxis: `y${id}` };
        if (figure.kind === "heatmap") traces.push({ ...heatTrace(panel, variant.colors.range, variant.colors.ticks, number === 1), ...here });
        for (const series of panel.series) {
          const trace = figure.kind === "curves"
            ? curveTraces(figure, series, state.hidden) : barTrace(figure, series, state.hidden);
          traces.push({ ...trace, ...here });
        }
      });
    });
    const config = {
      displaylogo: false, responsive: false, displayModeBar: narrow ? false : "hover",
      modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
      toImageButtonOptions: { format: "svg", filename: figure.id },
    };
    return Plotly.react(plot, traces, layout, config).then(() => freeTicks(state));
  }

  /** Who zooms in gets labels for what is seen then, Plotly's own; whoever goes back, ours. */
  function freeTicks(state) {
    if (state.watched) return;
    state.watched = true;
    state.plot.on("plotly_relayout", (change) => {
      const free = {};
      for (const key of Object.keys(change)) {
        const [, axis] = /^([xy]axis\d*)\.range/.exec(key) ?? [];
        const { type } = (axis && state.plot._fullLayout[axis]) || {};
        if (type && type !== "category") Object.assign(free, { [`${axis}.tickmode`]: "auto", [`${axis}.tickformat`]: "~s" });
      }
      if (Object.keys(free).length) Plotly.relayout(state.plot, free);
      if (Object.keys(change).some((k) => k.endsWith(".autorange"))) draw(state);
    });
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

  // A sheet of paper, landscape, within its margins and below a figure's title and legend.
  const PAPER = { width: 1020, height: 500 };
  let printing = false;
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
  // Library and data come compressed, and only where there is something to draw. Its checksum is in the
  // page's policy, so that nothing else could take its place.
  function unpacked(id) {
    const bytes = Uint8Array.from(atob(document.getElementById(id).textContent.trim()), (c) => c.charCodeAt(0));
    if (typeof DecompressionStream === "undefined") return Promise.resolve(new TextDecoder().decode(inflated(bytes)));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  }

  /** Decompresses gzip data (RFC 1951 and 1952) in browsers without DecompressionStream (before 2023). */
  function inflated(bytes) {
    const out = new Uint8Array(new DataView(bytes.buffer).getUint32(bytes.length - 4, true));
    let to = 0, at = 10, hold = 0, held = 0, last = 0;  // the header has ten bytes and no optional fields
    const bits = (count) => {
      for (; held < count; held += 8) hold |= bytes[at++] << held;
      const value = hold & ((1 << count) - 1);
      hold >>>= count;
      held -= count;
      return value;
    };
    const codeOf = (lengths) => {
      const counts = new Array(16).fill(0), symbols = [], next = [0, 0];
      for (const length of lengths) if (length) counts[length] += 1;
      for (let i = 1; i < 15; i += 1) next[i + 1] = next[i] + counts[i];
      lengths.forEach((length, symbol) => { if (length) symbols[next[length]++] = symbol; });
      return { counts, symbols };
    };
    const symbolOf = ({ counts, symbols }) => {
      for (let length = 1, code = 0, first = 0, index = 0; length < 16; length += 1) {
        code |= bits(1);
        if (code - first < counts[length]) return symbols[index + code - first];
        index += counts[length];
        first = (first + counts[length]) << 1;
        code <<= 1;
      }
      throw new Error("not gzip");
    };
    const steps = (start, group, count) => {  // base and extra bits of lengths and distances
      const found = [];
      for (let i = 0, base = start; i < count; i += 1) {
        const more = Math.max(0, Math.floor(i / group) - 1);
        found.push([base, more]);
        base += 1 << more;
      }
      return found;
    };
    const lengthSteps = [...steps(3, 4, 28), [258, 0]], distanceSteps = steps(1, 2, 30);
    const fixed = () => [...new Array(144).fill(8), ...new Array(112).fill(9), ...new Array(24).fill(7), ...new Array(8).fill(8)];
    const dynamic = () => {
      const sizes = [bits(5) + 257, bits(5) + 1], some = new Array(19).fill(0), lengths = [];
      const order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
      for (let i = 0, count = bits(4) + 4; i < count; i += 1) some[order[i]] = bits(3);
      const code = codeOf(some);
      while (lengths.length < sizes[0] + sizes[1]) {
        const symbol = symbolOf(code);
        if (symbol < 16) { lengths.push(symbol); continue; }
        const value = symbol === 16 ? lengths.at(-1) : 0;
        for (let i = symbol === 16 ? bits(2) + 3 : symbol === 17 ? bits(3) + 3 : bits(7) + 11; i > 0; i -= 1) lengths.push(value);
      }
      return [lengths.slice(0, sizes[0]), lengths.slice(sizes[0])];
    };
    while (!last) {
      last = bits(1);
      const kind = bits(2);
      if (kind === 0) {
        hold = held = 0;
        const count = bytes[at] | (bytes[at + 1] << 8);
        out.set(bytes.subarray(at + 4, at + 4 + count), to);
        at += 4 + count;
        to += count;
        continue;
      }
      const [literals, distances] = (kind === 1 ? [fixed(), new Array(30).fill(5)] : dynamic()).map(codeOf);
      for (let symbol = symbolOf(literals); symbol !== 256; symbol = symbolOf(literals)) {
        if (symbol < 256) { out[to++] = symbol; continue; }
        const [base, more] = lengthSteps[symbol - 257];
        const length = base + bits(more), [far, further] = distanceSteps[symbolOf(distances)];
        const from = to - far - bits(further);
        for (let i = 0; i < length; i += 1) out[to++] = out[from + i];
      }
    }
    return out;
  }

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
})();
