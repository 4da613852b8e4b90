#!/bin/bash
# flux: --job-name=@name@
# flux: -n @ranks@
# flux: -N @nodes@
# flux: -t @minutes@m
# flux: --output=@log@
# flux: --signal=SIGUSR1@60s
# flux: @directive@

@run@
