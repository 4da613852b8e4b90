# SPDX-License-Identifier: BSD-3-Clause
"""The engine `effio-mpi` as seen from outside: what it can, where it is, how it is built."""
