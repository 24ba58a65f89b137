"""The pipeline, one noun a module: joint, reach, target, curves, solutions, criteria, policy; `fit` calls them."""
