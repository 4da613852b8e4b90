// SPDX-License-Identifier: BSD-3-Clause
// Series of a figure as Plotly's traces, and what they look like. Texts are foreign and are escaped before Plotly
// sees them.

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
