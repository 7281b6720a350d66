"""Rules and formats that hold on both sides: Python 3.8, standard library only.

The controller imports these modules, and they travel to machines with the runner and the hook tools. They
import nothing of pushjuju but one another. What a hook tool loads imports nothing that takes long (re, json,
dataclasses, ...).
"""
