"""The program that runs on machines: Python 3.8+, standard library only.

Pushed to machines by ``pushjuju.runner.push.packer``; imports nothing from the rest of pushjuju.
Modules keep imports lean (no asyncio, subprocess, json, re): the program starts in milliseconds and idles
small.
"""
