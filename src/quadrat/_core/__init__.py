"""What knows nothing of the domain: arrays, names that load when used, threads of BLAS, pieces of HTML."""
