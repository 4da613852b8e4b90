"use strict";
// Light or dark as on the report; how far running runs are, every two seconds.
(() => {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "dark" : "light";
  document.getElementById("theme").addEventListener("click", () => {
    root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
  });

  const boxes = [...document.querySelectorAll('input[name="run"]')];
  const compare = document.getElementById("compare");
  const count = () => { compare.disabled = boxes.filter((b) => b.checked).length < 2; };
  boxes.forEach((box) => box.addEventListener("change", count));
  count();
  addEventListener("pageshow", count); // the way back ticks boxes again

  const items = new Map([...document.querySelectorAll("[data-run]")].map((li) => [li.dataset.run, li]));
  const look = async () => {
    let rows;
    try {
      rows = await (await fetch("runs.json")).json();
    } catch {
      return; // the server is gone; what stands here stays
    }
    const ticked = boxes.some((box) => box.checked);
    for (const row of rows) {
      const item = items.get(row.address);
      const changed = !item ? row.state === "running" : item.dataset.state !== row.state;
      // Not under the hands of somebody who is choosing.
      if (changed && !ticked && !location.search) return location.reload();
      const bar = item && item.querySelector("progress");
      if (bar && row.progress) {
        bar.value = row.done;
        item.querySelector(".now").textContent = row.progress;
      }
    }
    setTimeout(look, 2000);
  };
  setTimeout(look, 2000);
})();
