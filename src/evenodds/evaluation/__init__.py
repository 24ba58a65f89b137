"""What a policy does: to groups and to individuals, on these people and on others, and compared with other policies."""

from lazy_loader import attach

__getattr__, __dir__, __all__ = attach(__name__, ["individual"])  # the module that is public as eo.individual
