// SPDX-License-Identifier: BSD-3-Clause
// Draws a figure with Plotly.

// A sheet of paper, landscape, within its margins and below a figure's title and legend.
const PAPER = { width: 1020, height: 500 };
let printing = false;

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
  // Labels need room, and how much depends on how much there is: twice is enough.
  let axes = axesOf(figure, variant, panels, log, (width - 104) / perRow, narrow);
  const right = figure.kind === "heatmap" ? 90 : Math.max(14, axes.beyond);
  const inner = width - right;
  // The last label of a panel and the first of the next one do not touch.
  const gap = Math.max(14, axes.beyond + (axes.ahead ?? 0));
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
