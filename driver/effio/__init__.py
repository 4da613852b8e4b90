# SPDX-License-Identifier: BSD-3-Clause
"""effio: start the engine, keep its results, draw reports. Never touches the data path."""

# Type checkers know this name. Importing it takes longer than the rest of this module.
TYPE_CHECKING = False


def _version() -> str:
    """The installed version, or that of the checkout that contains this file."""
    from pathlib import Path

    checkout = Path(__file__).resolve().parents[2] / "VERSION"
    if checkout.is_file():
        return checkout.read_text().strip()
    # Half of what a command like --help takes is this import.
    from importlib import metadata

    try:
        return metadata.version("effio")
    except metadata.PackageNotFoundError:
        return "unknown"


if TYPE_CHECKING:
    __version__: str
else:

    def __getattr__(name: str) -> str:
        """Computes the version when it is used, not when the package is imported: until
        `effio.start` runs, Ctrl-C prints a traceback."""
        if name != "__version__":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = _version()
        return globals()[name]
