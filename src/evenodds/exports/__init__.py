"""A policy where decisions are made: as SQL, ONNX, MLflow, Python and JavaScript, and test vectors for all others."""
