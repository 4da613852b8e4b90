// SPDX-License-Identifier: BSD-3-Clause
// Axes: limits and labels come with the data; here is decided which labels have room.

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
  // How far the outermost labels go beyond the axis.
  const half = (t) => widthOf(t.text) / 2 + 4;
  return {
    angle, ahead: last && !angle && !upright ? Math.max(0, half(kept[0]) - kept[0].px) : 0, before: angle ? Math.max(0, ...kept.map((t) => 0.72 * widthOf(t.text) + 6 - t.px)) : 0,
    beyond: last && !angle ? Math.max(0, last.px + half(last) - length) : 0,
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
    left: 30 + Math.max(0, ...y.style.ticktext.map(widthOf)), below: x.depth, ahead: x.ahead ?? 0, beyond: x.beyond, before: x.before,
    x: byName ? { type: "category", range: [-0.5, categories.length - 0.5], ...x.style }
      : { type: figure.x.log ? "log" : "linear", range: ranged(variant.x.range, figure.x.log), ...x.style },
    y: { type: log ? "log" : "linear", range: ranged(scaleY.range, log), ...y.style },
  };
}
