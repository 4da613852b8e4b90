# SPDX-License-Identifier: BSD-3-Clause
"""effio: start the engine, keep its results, draw reports. Never touches the data path."""

from pathlib import Path


def _version() -> str:
    """The installed version, or that of the checkout that contains this file."""
    checkout = Path(__file__).resolve().parents[2] / "VERSION"
    if checkout.is_file():
        return checkout.read_text().strip()
    # Half of what a command like --help takes is this import.
    from importlib import metadata

    try:
        return metadata.version("effio")
    except metadata.PackageNotFoundError:
        return "unknown"


__version__ = _version()
