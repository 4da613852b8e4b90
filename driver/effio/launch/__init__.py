# SPDX-License-Identifier: BSD-3-Clause
"""Starting the engine: launchers, batch systems, and watching over a running job."""
