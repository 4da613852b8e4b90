# SPDX-License-Identifier: BSD-3-Clause
"""The layout of files over servers, as an axis of a campaign."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from driver.campaigns import NULL, STEP, record_of, run_campaign, runs_of, write_campaign
from driver.conftest import Effio
from effio.launch.layouts import (
    LayoutError,
    difference,
    directory_of,
    fault_of,
    laying,
    parsed,
    shown,
)

# What the commands print, as their manuals have it.
LUSTRE = (
    "stripe_count:  4 stripe_size:   1048576 pattern:       raid0 stripe_offset: -1"
    " pool:          flash\n"
)
BEEGFS = """Entry type: directory
EntryID: 0-5D285750-1
Metadata node: node1.beeg.local [ID: 1]
Stripe pattern details:
+ Type: RAID0
+ Chunksize: 512k
+ Number of storage targets: desired: 2
+ Storage Pool: 1 (Default)
"""
# MooseFS 3.0.117, here.
GOAL = "/mnt/data: 2\n"
STORAGE_CLASS = "/mnt/data: 'fast'\n"


@pytest.mark.parametrize(
    ("layout", "kind", "commands"),
    [
        (
            "servers=4 chunk=1MiB class=flash",
            "lustre",
            [
                "lfs setstripe -c 4 -S 1048576 -p flash {place}",
                "lfs getstripe -d {place}",
            ],
        ),
        ("servers=-1", "lustre", ["lfs setstripe -c -1 {place}", "lfs getstripe -d {place}"]),
        (
            "servers=2 chunk=512KiB class=1",
            "beegfs",
            [
                "beegfs-ctl --setpattern --numtargets=2 --chunksize=524288 --storagepoolid=1"
                " {place}",
                "beegfs-ctl --getentryinfo {place}",
            ],
        ),
        ("copies=1", "fuse.mfs", ["mfssetgoal 1 {place}", "mfsgetgoal {place}"]),
        ("class=fast", "fuse.mfs", ["mfssetsclass fast {place}", "mfsgetsclass {place}"]),
    ],
)
def test_a_layout_is_the_file_systems_own_commands(
    layout: str, kind: str, commands: list[str]
) -> None:
    laid = laying(layout, "/mnt", kind)
    place = directory_of(layout, "/mnt")
    assert Path(place).parent == Path("/mnt")
    assert [" ".join(words) for words in laid.setup] == [
        f"mkdir -p {place}",
        *(words.format(place=place) for words in commands),
    ]
    assert laid.cleanup == (("rmdir", "--ignore-fail-on-non-empty", place),)


def test_a_directory_can_be_laid_out_already() -> None:
    assert laying("dir=/mnt/dispersed", "/mnt", "fuse.glusterfs").setup == ()
    assert directory_of("dir=/mnt/dispersed", "/mnt") == "/mnt/dispersed"
    assert laying("default", "/mnt", "ext4").setup == ()
    assert directory_of("default", "/mnt") == "/mnt"


@pytest.mark.parametrize(
    ("kind", "said", "values"),
    [
        ("lustre", LUSTRE, {"servers": "4", "chunk": "1048576", "class": "flash"}),
        ("beegfs", BEEGFS, {"servers": "2", "chunk": "524288", "class": "1"}),
        ("fuse.mfs", GOAL, {"copies": "2", "class": "2"}),
        ("fuse.mfs", STORAGE_CLASS, {"class": "fast"}),
    ],
)
def test_what_the_commands_show(kind: str, said: str, values: dict[str, str]) -> None:
    assert shown(kind, said) == values


def test_a_layout_that_was_not_granted_is_found() -> None:
    assert difference("servers=4 chunk=1MiB", "lustre", LUSTRE) == ""
    assert difference("servers=8", "lustre", LUSTRE) == "servers is 4 instead of 8"
    assert difference("chunk=1MiB", "beegfs", BEEGFS) == "chunk is 524288 instead of 1048576"


def test_a_run_does_not_begin_in_another_layout(tmp_path: Path) -> None:
    laid = laying("servers=8", "/mnt", "lustre")
    entry = {"what": "set-up", "command": list(laid.setup[-1]), "said": LUSTRE}
    (tmp_path / "commands.jsonl").write_text(json.dumps(entry) + "\n")
    assert fault_of(laid, tmp_path) == "layout 'servers=8': servers is 4 instead of 8"
    granted = laying("servers=4", "/mnt", "lustre")
    entry["command"] = list(granted.setup[-1])
    (tmp_path / "commands.jsonl").write_text(json.dumps(entry) + "\n")
    assert fault_of(granted, tmp_path) == ""


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("servrs=4", "'servrs' is not a key; did you mean 'servers'?"),
        ("servers=", "servers has no value"),
        ("servers=many", "servers is a number, or -1 for all"),
        ("chunk=big", "'big' is not a size"),
        ("dir=/a servers=2", "dir= names a directory that is laid out already"),
        ("", "a layout is 'default', or words such as servers=4 chunk=1MiB"),
    ],
)
def test_what_is_not_a_layout(text: str, why: str) -> None:
    with pytest.raises(LayoutError) as error:
        parsed(text)
    assert why in error.value.message


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("fuse.mfs", "fuse.mfs has no servers, only copies, class"),
        ("ext4", "/mnt is on ext4, whose layout effio cannot set"),
    ],
)
def test_what_a_file_system_cannot_have(kind: str, why: str) -> None:
    with pytest.raises(LayoutError) as error:
        laying("servers=2", "/mnt", kind)
    assert why in error.value.message


def test_a_campaign_measures_each_layout(with_engine: Effio) -> None:
    effio = with_engine
    for name in ("wide", "narrow"):
        (effio.cwd / name).mkdir()
    block = '[step.options]\nblock = "64KiB"\ntransfer = "64KiB"\n'
    write_campaign(effio, f'{STEP}{block}[step.sweep]\nlayout = ["dir=wide", "dir=narrow"]\n')
    run_campaign(effio)
    runs = [record_of(run) for run in runs_of(effio)]
    measured = [(r["campaign"]["axes"]["layout"], r["arguments"][-1]) for r in runs]
    assert sorted(measured) == [("dir=narrow", "--dir=narrow"), ("dir=wide", "--dir=wide")]


def test_faults_of_a_campaigns_layouts_have_their_place(with_engine: Effio) -> None:
    effio = with_engine
    write_campaign(effio, f'{STEP}{NULL}[step.sweep]\nlayout = ["servrs=4"]\n')
    done = effio.call("check", "s.toml")
    assert done.returncode == 2
    assert "s.toml:11:" in done.stderr
    assert "'servrs' is not a key; did you mean 'servers'?" in done.stderr
    # Of a file system that has no such layout.
    write_campaign(effio, f'{STEP}{NULL}[step.sweep]\nlayout = ["servers=4"]\n')
    done = effio.call("run", "s.toml", "--quiet")
    assert done.returncode == 2
    assert "whose layout effio cannot set" in done.stderr
