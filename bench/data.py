"""People to measure on: groups with different ROC curves, scores of three kinds. The same for every case."""

from __future__ import annotations

import numpy as np

KINDS = ("float", "integer", "weighted")


def people(rows: int, *, groups: int = 4, kind: str = "float") -> dict[str, np.ndarray | None]:
    """Scores, group codes, labels and weights.

    "float": all scores distinct; "integer": 0 to 100; "weighted": float scores with weights.
    """
    rng = np.random.default_rng(20240603)
    group = rng.integers(0, groups, rows)
    label = rng.random(rows) < 0.35 + 0.3 * group / max(groups - 1, 1)
    # How far apart the two labels are differs from group to group, and so does where they lie.
    apart = 1.0 + 1.2 * group / max(groups - 1, 1)
    score = rng.normal(0.0, 1.0, rows)
    score += apart * label
    score += 0.1 * group
    if kind == "integer":
        score = np.clip(np.round(50 + 12 * score), 0, 100)
    weight = rng.uniform(0.5, 2.0, rows) if kind == "weighted" else None
    return {"score": score, "group": group, "label": label.astype(np.int64), "weight": weight}


def ids(rows: int) -> list[str]:
    """Who each row is, as text."""
    return [f"person-{row}" for row in range(rows)]
