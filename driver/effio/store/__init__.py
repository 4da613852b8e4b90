# SPDX-License-Identifier: BSD-3-Clause
"""Results: reading the engine's files with suspicion, and one folder for each run."""
