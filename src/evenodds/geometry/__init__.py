"""Arrays in, arrays out: piecewise polynomials, moments, hulls and roots. No word of fairness."""
