# SPDX-License-Identifier: BSD-3-Clause
"""Tables in README and docs/, between markers, from what the engine says of itself."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

Info = dict[str, Any]

DOCS = Path(__file__).resolve().parent.parent / "docs"
RESULTS = DOCS / "results.md"
README = DOCS.parent / "README.md"
# Tables of at least this many benchmarks stand once, on the page of what they share.
SHARED = 3
BEGIN = "<!-- {of}: made by tests/fields.py -->"
END = "<!-- end of what is made -->"
# What a reader learns nothing from, as a unit.
NO_UNIT = {"", "1"}


def page_of(benchmark: str) -> Path:
    return DOCS / "benchmarks" / f"{benchmark.replace('-', '_')}.md"


def between(text: str, of: str, inner: str) -> str:
    """The text of a page with this between its markers."""
    begin = BEGIN.format(of=of)
    found = re.compile(re.escape(begin) + r"\n.*?" + re.escape(END), re.DOTALL)
    assert len(found.findall(text)) == 1, f"no '{begin}' … '{END}'"
    return found.sub(lambda _: f"{begin}\n{inner}{END}", text)


class Tables:
    """`often`: names of the tables that results.md has, by their text."""

    def __init__(self, often: dict[str, str]) -> None:
        self._often = often

    def rows(self, fields: list[Info], before: str = "", here: bool = False) -> list[str]:
        rows = []
        for field in fields:
            name = before + field["name"]
            members = field.get("members", [])
            shared = self._often.get(json.dumps(members)) if members else None
            mark = "?" if field.get("sometimes") else ""
            meaning = field["meaning"] + (": " + self._link(shared, here) if shared else "")
            if field.get("nullable") and "null" not in meaning:
                meaning += "; or null"
            rows.append(f"| `{name}`{mark} | {_unit(field)} | {meaning} |")
            if members and not shared:
                rows += self.rows(members, f"{name}{_index(field)}.", here)
        return rows

    def table(self, fields: list[Info]) -> str:
        """Or where it is."""
        shared = self._often.get(json.dumps(fields))
        return self._link(shared, False) + "\n" if shared else _table(self.rows(fields))

    def _link(self, shared: str, here: bool) -> str:
        return f"[{shared}](#{shared})" if here else f"[{shared}](../results.md#{shared})"

    def figures(self, figures: list[Info]) -> str:
        def names(fields: list[Info]) -> str:
            shared = self._often.get(json.dumps(fields))
            if shared:
                return self._link(shared, False)
            return ", ".join(f"`{field['name']}`" for field in fields)

        rows = [
            f"| `{f['name']}` | {_unit({'type': 'number', **f})} | {f['meaning']} "
            f"| {names(f['where'])} | {names(f['detail'])} |"
            for f in figures
        ]
        head = ["| figure | unit | meaning | `where` | `detail` |", "|---|---|---|---|---|"]
        return "\n".join([*head, *rows]) + "\n"

    def further(self, info: Info) -> list[Info]:
        """Members of figures that no other table has."""
        known = {_without_mark(field) for part in ("where", "detail") for field in info[part]}
        further: dict[str, Info] = {}
        for figure in info["figures"]:
            for fields in (figure["where"], figure["detail"]):
                if json.dumps(fields) in self._often:
                    continue
                for field in fields:
                    if _without_mark(field) not in known:
                        further.setdefault(_without_mark(field), field)
        return list(further.values())


def _without_mark(field: Info) -> str:
    return json.dumps({**field, "sometimes": False})


def _index(field: Info) -> str:
    return {"list": "[]", "rows": "[][]", "map": ".NAME"}.get(field.get("shape", "one"), "")


def _unit(field: Info) -> str:
    if "members" in field or field["type"] in ("object", "string"):
        return {"list": "list", "map": "by name"}.get(field.get("shape", "one"), "")
    if field["type"] == "boolean":
        return "yes or no"
    unit = str(field.get("unit", ""))
    unit = "" if unit in NO_UNIT else unit
    shape = {"list": "list of ", "rows": "rows of ", "map": "by name, "}
    return shape.get(field.get("shape", "one"), "") + (unit or "number")


def _table(rows: list[str]) -> str:
    return "\n".join(["| member | unit | meaning |", "|---|---|---|", *rows]) + "\n"


def of_benchmark(info: Info, tables: Tables) -> str:
    """All members that are the benchmark's own."""
    parts = [
        ("`where` of a measurement:", tables.table(info["where"])),
        ("`detail` of a measurement:", tables.table(info["detail"])),
        ("Figures:", tables.figures(info["figures"])),
    ]
    if further := tables.further(info):
        parts.append(("Further members of figures:", tables.table(further)))
    if info["run"]:
        parts.append(("In the `run` line:", tables.table(info["run"])))
    parts.append(("Of `--plan-json`:", tables.table(info["plan"])))
    return "".join(f"\n{title}\n\n{table}" for title, table in parts) + "\n"


def of_all(often: dict[str, str]) -> str:
    """The tables that benchmarks share."""
    tables = Tables(often)
    return (
        "".join(
            f"\n#### {name}\n\n{_table(tables.rows(json.loads(text), here=True))}"
            for text, name in sorted(often.items(), key=lambda of: of[1])
        )
        + "\n"
    )


def pages(described: Info, shared: dict[str, str]) -> dict[Path, str]:
    """Each page with tables, as it must be. `shared`: names of tables that occur several times."""
    texts = [json.dumps(info) for info in described.values()]
    often = {
        table: name
        for table, name in shared.items()
        if sum(table in text for text in texts) >= SHARED
    }
    tables = Tables(often)
    made = {}
    for name, info in described.items():
        page = page_of(name)
        made[page] = between(page.read_text(), f"members of {name}", of_benchmark(info, tables))
    return made | {RESULTS: between(RESULTS.read_text(), "shared members", of_all(often))}


def lists(described: Info, purposes: dict[str, str], made: dict[Path, str]) -> dict[Path, str]:
    """README's table of benchmarks, and which are studies. `made`: pages with their members."""
    rows = ["| benchmark | what it measures |", "|---|---|"]
    for name, purpose in purposes.items():
        rows.append(f"| [{name}](docs/benchmarks/{page_of(name).name}) | {purpose} |")
    studies = [
        f"`{name}`"
        for name, info in described.items()
        if any(field["name"] == "study" for field in info["run"])
    ]
    words = f"Lists of cells with axes: {', '.join(studies[:-1])} and {studies[-1]}.\n"
    return {
        README: between(README.read_text(), "benchmarks", "\n".join(rows) + "\n"),
        RESULTS: between(made[RESULTS], "studies", words),
    }
