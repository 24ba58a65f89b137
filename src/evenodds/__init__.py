"""Fair odds from the scores of any black-box model.

A policy gives each group a curve that turns a score into the odds of a yes; everything before it finds it,
everything after it uses it.

>>> import evenodds as eo
>>> joint = eo.datasets.credit_risk()
>>> policy = eo.fit(joint, target=(0.2, 0.8))
>>> policy.odds([25, 49.5], "white").round(3)
array([0.243, 0.685])
"""

from lazy_loader import attach_stub as _attach_stub

from evenodds.version import __version__ as __version__

# The public names stand in __init__.pyi, once, for type checkers and for this: each loads when it is first asked for.
__getattr__, __dir__, __all__ = _attach_stub(__name__, __file__)
