"""The pipeline, one noun a module: joint, reach, target, curves, search, criteria, policy; `fit` calls them."""
