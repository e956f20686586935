"""Records of runs, and what is told of them."""
