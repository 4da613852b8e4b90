# SPDX-License-Identifier: BSD-3-Clause
"""Benchmarks alone and next to each other: slow-downs on `sim` in closed form, what a turn leaves,
and which command lines are refused. How such jobs end: tests/faults/test_interference.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from effio.report.build import load, report_of
from engines import Engine
from interference_runs import interfere, of_turn, turns
from patience import SECONDS
from results import Result
from results import load as results_of

MIB = 1 << 20
# The storage gives 100 MiB/s to all, and a rank as much as it can take.
SIM = f"--backend sim --backend-options rank-rate={1000 * MIB},shared-rate={100 * MIB}"
WRITE = "--phases write --transfer 1MiB"


def factors(result: Result, name: str = "slow_down") -> dict[tuple[int, str], float]:
    return {
        (f["where"]["group"], f["where"]["others"]): f["metric"]["value"]
        for f in result.figures
        if f["name"] == name
    }


def test_two_that_fill_the_storage_get_half_of_it_each(mpi: Engine, tmp_path: Path) -> None:
    """4 MiB at 100 MiB/s: 0.04 s alone and 0.08 s next to the other. The second one writes twice
    as much: 0.08 s alone, 0.16 s next to the first, in which the first one runs again once."""
    run = interfere(
        mpi,
        tmp_path,
        f"1: ior {SIM} {WRITE} --block 4MiB",
        f"1: ior {SIM} {WRITE} --block 8MiB",
        rounds=2,
    )
    assert run.code == 0, run
    result = run.result
    assert result.status == "done"
    assert factors(result) == pytest.approx({(1, "2"): 2.0, (2, "1"): 2.0})
    assert factors(result, "slow_down_of_phase") == pytest.approx({(1, "2"): 2.0, (2, "1"): 2.0})
    for figure in result.figures:
        if figure["name"] == "slow_down":
            assert figure["samples"]["count"] == 2
            # Two rounds have a range and no interval.
            assert figure["samples"]["min"] == pytest.approx(2.0)
            assert figure["samples"]["max"] == pytest.approx(2.0)
            assert figure["samples"]["low95"] is None
    seconds = {
        (m["where"]["group"], m["where"]["others"]): m["seconds"]["total"]["max"]
        for m in result.measurements
    }
    assert seconds == pytest.approx({(1, ""): 0.04, (2, ""): 0.08, (1, "2"): 0.08, (2, "1"): 0.16})
    runs = {
        m["where"]["group"]: m["detail"]["runs"]
        for m in result.measurements
        if m["where"]["others"]
    }
    assert runs == {1: 2, 2: 1}
    covered = [m["detail"].get("covered_fraction") for m in result.measurements]
    assert covered.count(None) == 4
    assert all(c == pytest.approx(1.0) for c in covered if c is not None)
    # Each met the other all the time, in both rounds.
    met = {f["where"]["group"]: f for f in result.figures if f["name"] == "met"}
    assert met[1]["metric"]["value"] == pytest.approx(2 * 0.08)
    assert met[2]["metric"]["value"] == pytest.approx(2 * 0.16)
    assert [met[g]["detail"]["fraction"] for g in (1, 2)] == pytest.approx([1.0, 1.0])
    assert turns(tmp_path) == [f"round-{r}-groups-{g}" for r in (1, 2) for g in ("1", "1-2", "2")]
    first = of_turn(tmp_path, "round-1-groups-1-2", 1)
    assert first.status == "done"
    assert first.run["group"] == {"number": 1, "of": 2, "first_rank": 0}
    (write,) = first.measurements
    assert write["span"] == pytest.approx({"begin_seconds": 0.0, "end_seconds": 0.08})
    assert "2.00 (2.00 to 2.00)" in run.stdout
    assert report_of(*load(tmp_path / "all.jsonl")).headline.value == pytest.approx(2.0)


def test_the_fewer_ranks_lose_the_most(any_engine: Engine, tmp_path: Path) -> None:
    """Four ranks share 100 MiB/s: one of them alone has it all, next to three a quarter; the three
    have a third each alone."""
    any_engine.needs_ranks(4)
    run = interfere(
        any_engine,
        tmp_path,
        f"1: ior {SIM} {WRITE} --block 1MiB",
        f"3: ior {SIM} {WRITE} --block 1MiB",
        ranks=4,
    )
    assert run.code == 0, run
    assert factors(run.result) == pytest.approx({(1, "2"): 4.0, (2, "1"): 4.0 / 3.0})


def test_ranks_that_the_storage_does_not_limit_do_not_interfere(
    any_engine: Engine, tmp_path: Path
) -> None:
    slow = f"--backend sim --backend-options rank-rate={20 * MIB},shared-rate={100 * MIB}"
    any_engine.needs_ranks(3)
    run = interfere(any_engine, tmp_path, *[f"1: ior {slow} {WRITE} --block 1MiB"] * 3, ranks=3)
    assert run.code == 0, run
    pairs = {(a, str(b)): 1.0 for a in (1, 2, 3) for b in (1, 2, 3) if a != b}
    assert factors(run.result) == pytest.approx(pairs)
    assert len(turns(tmp_path)) == 6


def test_all_at_once(any_engine: Engine, tmp_path: Path) -> None:
    any_engine.needs_ranks(3)
    run = interfere(
        any_engine,
        tmp_path,
        *[f"1: ior {SIM} {WRITE} --block 1MiB"] * 3,
        ranks=3,
        words=["--combinations", "all"],
    )
    assert run.code == 0, run
    assert factors(run.result) == pytest.approx({(1, "2,3"): 3.0, (2, "1,3"): 3.0, (3, "1,2"): 3.0})


def test_groups_of_together_share_what_sim_pretends(mpi: Engine, tmp_path: Path) -> None:
    line = f"1: ior {SIM} {WRITE} --block 4MiB"
    run = mpi.run(
        ["together", "-g", line, "-g", line, "--result", tmp_path / "both", "--quiet"], tmp_path
    )
    assert run.code == 0, run
    results = [results_of(tmp_path / f"both/group-{n}/result.jsonl") for n in (1, 2)]
    rates = [r.measurements[0]["rate"]["value"] for r in results]
    assert rates == pytest.approx([50 * MIB] * 2)


def test_in_real_time_the_shorter_one_runs_on_until_the_other_is_done(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    """How often is chance; that the first runs are whole, alone and next to others, is not."""
    run = interfere(
        any_engine,
        tmp_path,
        f"1: ior --dir {data} --block 1MiB --transfer 256KiB --phases write",
        f"1: mdtest --dir {data} --items 200 --iterations 3",
    )
    assert run.code == 0, run
    assert list(data.iterdir()) == []
    result = run.result
    for turn, groups in (("1", (1,)), ("2", (2,)), ("1-2", (1, 2))):
        for group in groups:
            whole = of_turn(tmp_path, f"round-1-groups-{turn}", group)
            assert whole.status == "done"
            if group == 1:
                assert [m["bytes"] for m in whole.measurements] == [1 << 20]
            else:
                assert [m["operations"] for m in whole.rows(phase="File creation")] == [200] * 3
            for m in whole.measurements:
                assert 0 <= m["span"]["begin_seconds"] <= m["span"]["end_seconds"]
    assert set(factors(result)) == {(1, "2"), (2, "1")}
    assert all(value > 0 for value in factors(result).values())
    # Further runs leave no files.
    both = tmp_path / "all.turns/round-1-groups-1-2"
    assert [p.name for p in both.rglob("*.jsonl")] == ["result.jsonl"] * 2
    left = {p.name for p in both.iterdir()}
    assert left - {"together.log.alive"} == {"group-1", "group-2", "together.log"}


def test_a_group_that_takes_no_virtual_time_ends_the_run(
    any_engine: Engine, tmp_path: Path
) -> None:
    """It could repeat forever and never run at the same time as the others."""
    names = "1: mdtest --backend sim --items 2"
    run = any_engine.run(
        ["interference", "-g", f"1: ior {SIM} --block 1MiB", "-g", names, "--rounds", "1"],
        tmp_path,
        timeout=SECONDS,
    )
    assert run.code == 2, run
    assert run.result.end is not None
    reported = run.result.end["reason"]
    assert reported.startswith(
        "in turn 2 (round 1, 2 mdtest alone): usage: group 2 (mdtest) takes no"
    )
    assert "--backend-options metadata=1ms" in reported


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("-g", "1: ior"), "two groups are needed at least: --group once for each"),
        (("-g", "1: iro", "-g", "1: ior"), "group 1: no benchmark 'iro'; did you mean ior?"),
        (("--beside", "all"), "unknown option --beside; did you mean --combinations?"),
        (
            ("-g", "1: interference", "-g", "1: ior"),
            "group 1: a group cannot be made of groups",
        ),
        (
            ("-g", "1: ior --backend sim", "-g", "1: mdtest --items 1"),
            "group 1 (ior) and group 2 (mdtest): one is in virtual time (sim) and the other is not",
        ),
        (
            ("-g", "1: ior", "-g", "2: ior"),
            "the groups need 3 ranks in all, and the job has 2: launch it with mpiexec -n 3",
        ),
        (("-g", "1: ior", "-g", "1: ior", "--rounds", "0"), "--rounds"),
        (("-g", "1: ior --quiet", "-g", "1: ior"), "--quiet belongs to the whole job"),
    ],
)
def test_a_wrong_command_line_starts_nothing(
    any_engine: Engine, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    run = any_engine.run(["interference", *words, "--result", tmp_path / "all.jsonl"], tmp_path)
    assert run.code == 2, run
    assert message in run.stderr
    assert not (tmp_path / "all.jsonl").exists()
    assert not (tmp_path / "all.turns").exists()


def test_plans_need_no_launcher(any_engine: Engine, tmp_path: Path) -> None:
    lines = ["-g", "4: ior --block 1MiB --transfer 1MiB", "-g", "2: mdtest --items 3"]
    run = any_engine.alone(["interference", *lines, "--plan"], tmp_path)
    assert run.code == 0, run
    assert "Interference of 2 groups: 3 rounds of 3 turns" in run.stdout
    assert "  1 ior next to 2 mdtest\n" in run.stdout
    assert "group 2 (mdtest), 2 ranks\n\nPlan of mdtest with 2 ranks" in run.stdout
    wrong = any_engine.alone(["interference", *lines, "--plan", "--plan-ranks", "5"], tmp_path)
    assert wrong.code == 2, wrong
    assert "the groups need 6 ranks in all" in wrong.stderr
