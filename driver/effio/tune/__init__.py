# SPDX-License-Identifier: BSD-3-Clause
"""Tuning: which hints and settings make a workload faster here, and whether that holds."""
