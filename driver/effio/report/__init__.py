# SPDX-License-Identifier: BSD-3-Clause
"""Reports: what a result says, as tables and figures, and the page or terminal that shows them."""
