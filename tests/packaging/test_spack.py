# SPDX-License-Identifier: BSD-3-Clause
"""The Spack recipe, as far as it can be held against this checkout without Spack: it is Python that
uses directives as Spack defines them, and it says the same as CMake and pyproject.toml."""

from __future__ import annotations

import re
import sys
from contextlib import nullcontext
from types import ModuleType
from typing import Any

import pytest

from engines import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

RECIPE = ROOT / "packaging/spack/packages/effio/package.py"


class Recipe:
    """What the recipe's directives said."""

    def __init__(self) -> None:
        self.depends: list[tuple[str, dict[str, Any]]] = []
        self.variants: dict[str, dict[str, Any]] = {}
        self.others: list[str] = []
        self.package: Any = None


@pytest.fixture
def recipe(monkeypatch: pytest.MonkeyPatch) -> Recipe:
    found = Recipe()
    spack = ModuleType("spack.package")

    def depends_on(spec: str, *, when: str = "", type: object = "") -> None:
        found.depends.append((spec, {"when": when, "type": type}))

    def variant(name: str, *, default: bool, description: str, when: str = "") -> None:
        found.variants[name] = {"default": default, "description": description, "when": when}

    names: dict[str, Any] = {
        "CMakePackage": type("CMakePackage", (), {}),
        "PythonExtension": type("PythonExtension", (), {}),
        "depends_on": depends_on,
        "variant": variant,
        "extends": depends_on,
        "version": lambda name: found.others.append(f"version {name}"),
        "license": lambda spdx: found.others.append(f"license {spdx}"),
        "conflicts": lambda spec, *, msg: found.others.append(f"conflicts {spec}: {msg}"),
        "when": lambda condition: nullcontext(),
        "run_after": lambda phase: lambda method: method,
    }
    for name, value in names.items():
        setattr(spack, name, value)
    spack.__all__ = list(names)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "spack", ModuleType("spack"))
    monkeypatch.setitem(sys.modules, "spack.package", spack)
    space: dict[str, Any] = {"__name__": "effio_recipe"}
    exec(compile(RECIPE.read_text(), str(RECIPE), "exec"), space)
    found.package = space["Effio"]
    return found


def _versions(requirement: str) -> tuple[str, str]:
    """("py-rich", "13.7") from "rich>=13.7" """
    found = re.match(r"([a-z0-9-]+)>=([0-9.]+)", requirement)
    assert found is not None, requirement
    return f"py-{found[1]}", found[2].removesuffix(".0")


def test_python_dependencies_are_those_of_the_package(recipe: Recipe) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    optional = project["optional-dependencies"]
    wanted = dict(map(_versions, project["dependencies"]))
    wanted |= dict(map(_versions, optional["query"] + optional["print"]))
    said = {
        name: version.removesuffix(":").removesuffix(".0")
        for name, _, version in (spec.partition("@") for spec, _ in recipe.depends)
        if name.startswith("py-") and name not in ("py-pip", "py-hatchling")
    }
    assert said == {name: version.removesuffix(".0") for name, version in wanted.items()}
    python = next(spec for spec, _ in recipe.depends if spec.startswith("python@"))
    assert project["requires-python"] == f">={python.split('@')[1].rstrip(':')}"


def test_cmake_knows_what_the_recipe_sets(recipe: Recipe) -> None:
    cmake = "".join(p.read_text() for p in (ROOT / "cmake").glob("*.cmake")).lower()
    text = RECIPE.read_text()
    switches = re.findall(r'define_from_variant\("EFFIO_WITH_(\w+)", "(\w+)"\)', text)
    assert len(switches) == 3
    for library, variant in switches:
        assert variant in recipe.variants
        assert f"effio_array_library({library.lower()} " in cmake
    minimum = re.search(
        r"cmake_minimum_required\(VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text()
    )
    assert minimum is not None
    assert any(spec == f"cmake@{minimum[1]}:" for spec, _ in recipe.depends)


def test_conditions_name_variants_that_exist(recipe: Recipe) -> None:
    conditions = [more["when"] for _, more in recipe.depends]
    conditions += [v["when"] for v in recipe.variants.values()]
    named = {name for text in conditions for name in re.findall(r"\+(\w+)", text)}
    assert named <= set(recipe.variants)
    assert recipe.package.__doc__
    assert "license BSD-3-Clause" in recipe.others


def test_the_repository_can_be_added() -> None:
    """A Spack repository is a folder with repo.yaml and packages/NAME/package.py."""
    assert "namespace: effio" in (ROOT / "packaging/spack/repo.yaml").read_text()
    assert RECIPE.parent.name == "effio"
