"""The pipeline, one noun a module: joint, regions, target, curves, solutions, criteria, policy; `fit` calls them."""
