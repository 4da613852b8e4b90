#!/bin/bash
#BSUB -J @name@
#BSUB -n @ranks@
#BSUB -R "span[ptile=@ranks_per_node@]"
#BSUB -W @short_clock@
#BSUB -o @log@
#BSUB -wt 1 -wa USR1
#BSUB @directive@

@run@
