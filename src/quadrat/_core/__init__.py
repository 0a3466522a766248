"""Helpers that know nothing of the domain: arrays, lazy names, threads of BLAS, pieces of HTML."""
