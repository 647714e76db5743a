"""The kinds of steps that a survey can have: one file for each, which says all about it.

A step turns a form into an answer and an answer into words. It sees no database: `survey` stores.
"""

from importlib import import_module
from pkgutil import iter_modules

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
