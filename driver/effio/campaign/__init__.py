# SPDX-License-Identifier: BSD-3-Clause
"""Several runs that answer one question: the file that describes them, and the runner."""
