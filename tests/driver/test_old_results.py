# SPDX-License-Identifier: BSD-3-Clause
"""Results of engines that wrote schema 1.2, frozen: they are never to be written anew. In each,
something has a name or a unit that it has no longer."""

from __future__ import annotations

from pathlib import Path

import pytest

from effio.report.build import report_of
from effio.store import versions
from effio.store.reader import Result, read_result


def of(benchmark: str) -> Result:
    return read_result(Path(__file__).parent / "old" / f"{benchmark}-1.2.jsonl")


@pytest.mark.parametrize(
    ("benchmark", "headline"),
    [
        ("b-eff", "757.5 MB/s"),
        ("interference", "2.000"),
        ("overlap", "100 %"),
        ("partest", "45.40 MB/s"),
        ("probe", "200.0 MB/s"),
        ("ssca3", "37.09 images/s"),
    ],
)
def test_a_result_of_schema_1_2_has_the_headline_that_it_had(benchmark: str, headline: str) -> None:
    result = of(benchmark)
    assert (result.status, result.remarks) == ("done", [])
    assert report_of("old", result, []).headline.shown() == headline


def test_doubts_of_an_interval_are_read() -> None:
    figure = of("partest").figure("bandwidth")
    assert figure is not None
    assert figure.detail["interval"]["unreliable"] is False
    assert "may_be_untrue" not in figure.detail["interval"]


def test_what_was_a_way_is_a_method() -> None:
    overlap, partest = of("overlap"), of("partest")
    assert [m.where["method"] for m in overlap.measurements[:2]] == ["blocking", "thread"]
    assert overlap.run.options["methods"] == ["blocking", "thread"]
    assert partest.run.options["methods"] == ["task-local", "shared"]
    run = overlap.run.model_extra or {}
    assert [m["method"] for m in run["overlap"]["methods"]] == ["blocking", "thread"]
    headline = overlap.figure("overlap")
    assert headline is not None
    assert headline.detail["best"]["method"] == "thread"
    caches = [m.cache.methods for m in partest.measurements if m.cache is not None]
    assert caches == [[], ["dropped"], [], ["dropped"]]


def test_the_groups_that_ran_together_are_read() -> None:
    result = of("interference")
    assert result.run.options["combinations"] == "pairs"
    assert [m.where["others"] for m in result.measurements] == ["", "", "2", "1"]
    assert [f.where["others"] for f in result.figures_named("slow_down")] == ["2", "1"]
    met = result.figure("met")
    assert met is not None
    other = {"other": "2", "other_benchmark": "ior", "other_access": "write"}
    assert met.where.items() >= other.items()
    slower = of("overlap").figure("work_slowdown")
    assert slower is not None
    assert slower.detail["during_io_seconds"] > 0
    assert of("overlap").measurements[0].detail["work_during_io_seconds"] > 0


def test_a_flush_that_the_rate_does_not_count_is_separate() -> None:
    assert of("partest").run.options["fsync"] == "separate"


def test_a_figure_has_one_unit() -> None:
    def units(benchmark: str) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for figure in of(benchmark).figures:
            found.setdefault(figure.name, set()).add(figure.metric.unit)
        return found

    assert units("b-eff")["slow_pairs"] == {"1"}
    assert units("ssca3")["ssca3_images_per_second"] == {"images/s"}
    assert units("probe") == {
        "bandwidth_limit": {"B/s"},
        "operation_limit": {"op/s"},
        "latency_limit": {"s"},
        "probe": {"B/s"},
    }
    for benchmark in ("ssca3", "probe"):
        assert of(benchmark).number is not None


@pytest.mark.parametrize(
    ("unit", "detail", "name"),
    [
        ("sequences/s", {"figure": "sequences_per_second"}, "ssca3_sequences_per_second"),
        ("B/s", {"figure": "chain_bandwidth"}, "ssca3_chain_bandwidth"),
        ("B/s", {"place": {}}, "ssca3_bandwidth"),
        ("B/s", None, "ssca3_bandwidth"),
    ],
)
def test_the_headline_of_ssca3_says_what_it_counts(unit: str, detail: object, name: str) -> None:
    line: versions.Line = {
        "schema": "effio-result/1.2", "kind": "figure", "benchmark": "ssca3", "name": "ssca3",
        "metric": {"value": 5.0, "unit": unit}, "detail": detail,
    }  # fmt: skip
    assert versions.upgrade(line)["name"] == name


def test_damaged_lines_are_for_the_reader_to_refuse() -> None:
    old: versions.Line = {"schema": "effio-result/1.2", "kind": "figure", "benchmark": "probe"}
    for more in ({"name": "limit", "metric": 3}, {"name": ["limit"]}, {"benchmark": ["probe"]}):
        assert versions.upgrade({**old, **more})["schema"] == "effio-result/1.3"
    deep: object = 5
    for _ in range(5000):
        deep = [deep]
    assert versions.upgrade({**old, "detail": deep})["detail"] == deep
