from setuptools import setup

setup(name="own", version=f"{2 * 3}.0", py_modules=["own"])
