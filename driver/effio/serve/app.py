# SPDX-License-Identifier: BSD-3-Clause
"""From a request to a response, without sockets.

Who knows the token in the address may read; everything else is refused in the same words, so that a
page of another site learns nothing. The Host header has to name this machine's loopback interface:
a name that another user's DNS points here does not.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from urllib.parse import parse_qs, quote, unquote_to_bytes, urlencode

import jinja2
from markupsafe import Markup

import effio
from effio import text as fmt
from effio.campaign.state import scale_of, series_name
from effio.errors import EffioError
from effio.judge.rules import RuleFile
from effio.report.build import page_of
from effio.report.campaign import campaign_report
from effio.report.charts import charts_of, charts_section
from effio.report.html import render
from effio.report.model import Link
from effio.report.trend import MOST_DRAWN, trend_of, trend_report
from effio.report.trend import as_data as trend_data
from effio.serve.shelf import FILES, Shelf, Shown, as_json
from effio.store import safe_files
from effio.store.all_runs import Store
from effio.store.known import without_collections

_PAGES = Path(__file__).resolve().parent / "pages"
_STYLE = Path(__file__).resolve().parents[1] / "report" / "page" / "style.css"
_MAX_TARGET = 16_384
_MOST_COMPARED = 20
_TOO_MANY = f"at most {_MOST_COMPARED} runs can be compared: go back and tick fewer"
_MOST_FIELDS = 1000
# Runs in the list unless all are requested: a page of ten thousand takes a browser many seconds.
_MOST_LISTED = 500
_COMMON = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}


@dataclass(frozen=True)
class Response:
    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


def _answer(status: int, text: str, kind: str, **more: str) -> Response:
    headers = {"Content-Type": f"{kind}; charset=utf-8", **_COMMON}
    headers |= {name.replace("_", "-"): value for name, value in more.items()}
    return Response(status, text.encode("utf-8", "replace"), headers)


def _refusal(status: int, text: str, **more: str) -> Response:
    return _answer(status, text + "\n", "text/plain", **more)


DEFECT = _refusal(500, "this is a defect of effio itself; please report what its terminal shows")
_NOT_FOUND = "not found"
_GONE = "not found: no such run is here, or it has no such file; load the list of runs again"


def _decoded(name: str) -> str:
    """The name of an address (`Shown.address`)."""
    return os.fsdecode(unquote_to_bytes(os.fsencode(name)))


def _segments(path: str) -> list[str] | None:
    """The decoded parts of a path; None for one that no link of ours has."""
    parts = []
    for raw in path.split("/")[1:]:
        part = _decoded(raw)
        if part in (".", "..") or any(sign in part for sign in "/\\\0"):
            return None
        parts.append(part)
    return parts


class App:
    """`rules` judge each campaign; without them a campaign is judged by the shipped rules of its
    name, if any."""

    def __init__(self, shelf: Shelf, token: str, port: int, rules: RuleFile | None = None) -> None:
        self.shelf = shelf
        self._rules = rules
        self._token = token
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}
        self._environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader(_PAGES),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
        )
        self._environment.filters["groupby_in_order"] = _grouped
        self._environment.filters["prose"] = fmt.prose
        self._environment.filters["urlencode"] = lambda name: quote(os.fsencode(name), safe="")
        self._environment.globals["counted"] = fmt.count_of
        self._report = lru_cache(maxsize=8)(self._drawn)

    def respond(self, method: str, target: str, headers: Mapping[str, str]) -> Response:
        host = headers.get("Host", "")
        if host.lower() not in self._hosts:
            return _refusal(421, "this is not the machine that you think it is")
        if method not in ("GET", "HEAD"):
            return _refusal(405, "read only", Allow="GET, HEAD")
        if not target.startswith("/") or len(target) > _MAX_TARGET:
            return _refusal(400, "bad request" if "?" not in target else _TOO_MANY)
        path, _, query = target.partition("?")
        parts = _segments(path)
        if not parts or not hmac.compare_digest(os.fsencode(parts[0]), self._token.encode()):
            return _refusal(404, _NOT_FOUND)
        try:
            fields = parse_qs(query, max_num_fields=_MOST_FIELDS)
        except ValueError:
            return _refusal(409, _TOO_MANY)
        return self._route(parts[1:], fields)

    def _route(self, parts: list[str], query: Mapping[str, list[str]]) -> Response:
        try:
            match parts:
                case [""]:
                    return self._list(query)
                case ["runs.json"]:
                    return _answer(200, as_json(self.shelf.runs()), "application/json")
                case ["run", name]:
                    return self._page([name])
                case ["run", name, file]:
                    return self._file(name, file)
                case ["campaign", name]:
                    return self._campaign(name)
                case ["trend", name]:
                    return self._trend(name, None if query.get("all") else MOST_DRAWN)
                case ["trend", name, "trend.json"]:
                    return self._trend_data(name)
                case ["compare"]:
                    return self._page([_decoded(name) for name in query.get("run", [])])
        except EffioError as error:
            return _refusal(409, error.message)
        except OSError as error:
            # A run is removed, or its files are, while they are read.
            return _refusal(409, f"it cannot be read ({error.strerror}): load it again")
        return _refusal(404, _NOT_FOUND)

    def _list(self, query: Mapping[str, list[str]]) -> Response:
        wanted = {name: query.get(name, [""])[0][:200] for name in ("q", "benchmark", "state")}
        everything = self.shelf.runs()
        fitting = [run for run in everything if _fits(run, wanted)]
        most = len(fitting) if query.get("all") else _MOST_LISTED
        runs = [run for n, run in enumerate(fitting) if n < most or run.running]
        script = (_PAGES / "list.js").read_text(encoding="utf-8")
        style = _STYLE.read_text(encoding="utf-8") + (_PAGES / "list.css").read_text("utf-8")
        page = self._environment.get_template("list.html.j2").render(
            root=self.shelf.root,
            runs=runs,
            fitting=len(fitting),
            total=len(everything),
            query_of_all=urlencode({**{n: text for n, text in wanted.items() if text}, "all": "1"}),
            wanted=wanted,
            campaigns=_newest_of_series({run.cells["campaign"] for run in everything} - {""}),
            benchmarks=sorted({run.cells["benchmark"] for run in everything}),
            states=sorted({run.cells["state"] for run in everything}),
            files=FILES,
            style=Markup(style),
            script=Markup(script),
            version=effio.__version__,
        )
        policy = (
            f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
            "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        )
        return _answer(200, page, "text/html", Content_Security_Policy=policy)

    def _page(self, names: list[str]) -> Response:
        """The report of a run, or of several together; it has its own policy inside."""
        if not names:
            return _refusal(409, "tick the runs that are to be compared, then press Compare")
        if len(names) > _MOST_COMPARED:
            return _refusal(409, _TOO_MANY)
        folders = [self.shelf.folder(name) for name in dict.fromkeys(names)]
        paths = [folder.path for folder in folders if folder is not None]
        if len(paths) != len(folders):
            return _refusal(404, _GONE)
        stamps = tuple(_changed(path) for path in paths)
        return _answer(200, self._report(tuple(paths), stamps), "text/html")

    def _campaign(self, name: str) -> Response:
        with without_collections():
            runs = self.shelf.runs_of_campaign(name)
            if not runs.claimed:
                return _refusal(404, _GONE)
            store = Store(self.shelf.root)
            charts, scale = charts_section(charts_of(store, name), runs), scale_of(store, name)
            report = campaign_report(name, runs, rules=self._rules, charts=charts, scale=scale)
            return _answer(200, render([report], [str(self.shelf.root)]), "text/html")

    def _trend(self, name: str, most: int | None) -> Response:
        """The page with `most` figures, or all of them."""
        with without_collections():
            runs = self.shelf.claims_of_campaign(name)
            if not runs:
                return _refusal(404, _GONE)
            report = trend_report(trend_of(name, runs), most, Link("draw all of them", "?all=1"))
            return _answer(200, render([report], [str(self.shelf.root)]), "text/html")

    def _trend_data(self, name: str) -> Response:
        with without_collections():
            runs = self.shelf.claims_of_campaign(name)
            if not runs:
                return _refusal(404, _GONE)
            text = json.dumps(trend_data(trend_of(name, runs)))
        return _answer(200, text, "application/json")

    @staticmethod
    def _drawn(paths: tuple[Path, ...], _stamps: tuple[int, ...]) -> str:
        return page_of(paths)

    def _file(self, name: str, file: str) -> Response:
        path = self.shelf.file(name, file)
        if path is None:
            return _refusal(404, _GONE)
        try:
            text = safe_files.read_text(path, errors="replace")
        except OSError as error:
            return _refusal(409, f"{file}: {error.strerror}")
        return _answer(200, text, "text/plain", Content_Security_Policy="default-src 'none'")


def _newest_of_series(campaigns: Iterable[str]) -> list[tuple[str, str]]:
    """Names without the start time, and the newest campaign of each."""
    return sorted({series_name(name): name for name in sorted(campaigns)}.items())


def _grouped(runs: Iterable[Shown]) -> list[tuple[str, list[Shown]]]:
    """Runs grouped by their heading, in the given order."""
    return [(heading, list(some)) for heading, some in groupby(runs, lambda run: run.heading)]


def _fits(run: Shown, wanted: Mapping[str, str]) -> bool:
    if any(wanted[n] and run.cells[n] != wanted[n] for n in ("benchmark", "state")):
        return False
    return run.matches(wanted["q"].casefold().split())


def _changed(path: Path) -> int:
    """When anything in a run's folder last changed."""
    return max((entry.lstat().st_mtime_ns for entry in path.iterdir()), default=0)


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
