#!/bin/bash
#PBS -N @short_name@
#PBS -l select=@some_nodes@:ncpus=@some_per_node@:mpiprocs=@some_per_node@
#PBS -l walltime=@clock@
#PBS -j oe
#PBS -r n
#PBS -o @log@
#PBS @directive@

@run@
