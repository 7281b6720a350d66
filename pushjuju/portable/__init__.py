"""Rules and formats that the controller and the machines share: Python 3.8, standard library only.

The controller imports these modules; the runner and the hook tools take the modules along to machines. The
modules import nothing of pushjuju but one another. A module that hook tools load imports nothing that takes
long to load (re, json, dataclasses, ...).
"""
