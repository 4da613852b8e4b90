// SPDX-License-Identifier: BSD-3-Clause
// Search for the documentation when it is opened from files. mkdocs' own search starts a worker and
// requests the index, which browsers refuse for file:// addresses; script elements are allowed.
"use strict";
(() => {
  let ready = null;

  function load(name) {
    return new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = `${base_url}/search/${name}`;
      script.onload = resolve;
      script.onerror = () => reject(new Error(`cannot load ${script.src}`));
      document.head.append(script);
    });
  }

  /** The index is built when the search is used for the first time. */
  async function prepare() {
    await Promise.all([load("lunr.js"), load("search_index.js")]);
    const { config, docs } = window.searchIndex;
    lunr.tokenizer.separator = new RegExp(config.separator);
    const places = new Map(docs.map((doc) => [doc.location, doc]));
    const index = lunr(function build() {
      this.ref("location");
      this.field("title", { boost: 5 });
      this.field("text");
      for (const doc of docs) this.add(doc);
    });
    return { index, places };
  }

  function found({ index, places }, query) {
    const words = query.split(/\s+/).filter(Boolean);
    const hits = index.query((q) => {
      for (const term of words.flatMap((word) => lunr.tokenizer(word)).map(String)) {
        q.term(index.pipeline.runString(term), { boost: 10 });
        q.term(term, { wildcard: lunr.Query.wildcard.TRAILING, usePipeline: false });
      }
    });
    return hits.slice(0, 30).map((hit) => places.get(hit.ref));
  }

  function show(docs) {
    const target = document.getElementById("mkdocs-search-results");
    target.replaceChildren(...docs.map((doc) => {
      const article = document.createElement("article");
      const link = document.createElement("a");
      link.href = `${base_url}/${doc.location}`;
      link.textContent = doc.title;
      const heading = document.createElement("h3");
      heading.append(link);
      const summary = document.createElement("p");
      summary.textContent = doc.text.slice(0, 200);
      article.append(heading, summary);
      return article;
    }));
    if (!docs.length) {
      const nothing = document.createElement("p");
      nothing.textContent = target.dataset.noResultsText;
      target.append(nothing);
    }
  }

  async function search() {
    const input = document.getElementById("mkdocs-search-query");
    const query = input.value.trim();
    if (query.length < 2) return document.getElementById("mkdocs-search-results").replaceChildren();
    ready ??= prepare();
    const loaded = await ready;
    // Typing went on while the index was read.
    if (query === input.value.trim()) show(found(loaded, query));
  }
  // The form follows this script in the page.
  document.addEventListener("DOMContentLoaded", () => {
    const input = document.getElementById("mkdocs-search-query");
    input.addEventListener("input", search);
    input.form.addEventListener("submit", (event) => event.preventDefault());
    const asked = new URLSearchParams(window.location.search).get("q");
    if (asked) {
      input.value = asked;
      search();
    }
  });
})();
