"""The program that runs on machines: Python 3.8+, standard library only.

``pushjuju.runner.push.packer`` packs the program; its modules import only each other and
``pushjuju.portable``. They avoid slow imports (asyncio, subprocess, json, re), so the program starts in
milliseconds and stays small.
"""
