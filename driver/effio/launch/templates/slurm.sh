#!/bin/bash
#SBATCH --job-name=@name@
#SBATCH --ntasks=@ranks@
#SBATCH --nodes=@nodes@
#SBATCH --ntasks-per-node=@ranks_per_node@
#SBATCH --time=@clock@
#SBATCH --output=@log_pattern@
#SBATCH --signal=B:USR1@60
#SBATCH --no-requeue
#SBATCH @directive@

@run@
