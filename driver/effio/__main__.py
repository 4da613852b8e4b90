# SPDX-License-Identifier: BSD-3-Clause
"""`python -m effio`."""

from effio.start import main

if __name__ == "__main__":
    main()
