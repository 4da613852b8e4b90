# SPDX-License-Identifier: BSD-3-Clause
"""Several benchmarks in one job: what each leaves, and which command lines are refused before
anything starts. How such jobs end when something goes wrong: tests/faults/test_together.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from effio.report.build import load, report_of
from engines import Engine
from together_runs import groups, log_of, together


def test_two_benchmarks_have_their_own_ranks_files_and_results(
    mpi: Engine, tmp_path: Path, data: Path
) -> None:
    """Two of them are ior: the names of their files are the same."""
    run = together(
        mpi,
        tmp_path,
        f"1: ior --dir {data} --block 1MiB --transfer 64KiB",
        f"1: ior --dir '{data}' --block 1MiB --transfer 64KiB --repetitions 2",
        words=["--max-bytes", "3MiB"],
    )
    assert run.code == 0, run
    assert list(data.iterdir()) == []
    for number, (result, repetitions) in enumerate(zip(run.results, (1, 2), strict=True), 1):
        assert result.status == "done"
        assert result.run["group"] == {"number": number, "of": 2, "first_rank": number - 1}
        assert result.run["system"]["ranks"] == 1
        assert result.run["options"]["dir"] == f"{data}/group-{number}"
        assert result.run["options"]["max-bytes"] == 3 << 19
        assert len(result.rows(access="write")) == repetitions
        assert all(m["valid"] and m["bytes"] == 1 << 20 for m in result.measurements)
        assert report_of(*load(result.path.parent)).headline
    # The first one's tables, and a line for each.
    assert run.stdout.count("access  transfer") == 1
    assert "group 1 (ior): done, " in run.stdout
    assert "group 2 (ior): done, " in run.stdout
    events = [(line["event"], line["group"]) for line in log_of(tmp_path)]
    assert events[:2] == [("start", 1), ("start", 2)]
    assert sorted(events[2:]) == [("end", 1), ("end", 2)]


def test_groups_of_other_kinds_and_sizes(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    any_engine.needs_ranks(6)
    run = together(
        any_engine,
        tmp_path,
        f"3: mdtest --dir {data} --items 5",
        "2: ior --backend sim --block 1MiB",
        "1: b-eff-io --backend sim --time 0s --memory-per-rank 256MiB",
        ranks=6,
        words=["--show", "2", "--quiet"],
    )
    assert run.code == 0, run
    assert [r.run["system"]["ranks"] for r in run.results] == [3, 2, 1]
    assert [r.run["group"]["first_rank"] for r in run.results] == [0, 3, 5]
    assert [r.run["clock"]["virtual"] for r in run.results] == [False, True, True]
    assert run.stdout == ""
    created = run.results[0].rows(phase="File creation")
    assert [m["operations"] for m in created] == [15]


def test_a_place_with_results_is_not_taken_again(any_engine: Engine, tmp_path: Path) -> None:
    assert together(any_engine, tmp_path, *(["1: ior --backend null"] * 2)).code == 0
    before = groups(tmp_path)
    again = any_engine.run(
        ["together", *("-g", "1: ior --backend null") * 2, "--result", tmp_path / "both"], tmp_path
    )
    assert again.code == 2, again
    assert "exists already; results are never overwritten" in again.stderr
    assert groups(tmp_path) == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("-g", "1: iro", "-g", "1: ior --blok 1"),
            "group 1: no benchmark 'iro'; did you mean ior?\ngroup 2 (ior): unknown option --blok",
        ),
        (
            ("-g", "1: ior", "-g", "2: ior"),
            "the groups need 3 ranks in all, and the job has 2: launch it with mpiexec -n 3",
        ),
    ],
)
def test_a_wrong_command_line_starts_nothing(
    any_engine: Engine, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    run = any_engine.run(["together", *words, "--result", tmp_path / "both"], tmp_path)
    assert run.code == 2, run
    assert message in run.stderr
    assert not (tmp_path / "both").exists()


def test_plans_need_no_launcher(any_engine: Engine, tmp_path: Path) -> None:
    lines = ["-g", "4: ior --block 1MiB --transfer 1MiB", "-g", "2: mdtest --items 3"]
    run = any_engine.alone(["together", *lines, "--plan", "--plan-ranks", "6"], tmp_path)
    assert run.code == 0, run
    assert "group 1 (ior), 4 ranks\n\nPlan of ior with 4 ranks" in run.stdout
    assert "group 2 (mdtest), 2 ranks\n\nPlan of mdtest with 2 ranks" in run.stdout
    wrong = any_engine.alone(["together", *lines, "--plan", "--plan-ranks", "5"], tmp_path)
    assert wrong.code == 2, wrong
    assert "the groups need 6 ranks in all" in wrong.stderr
