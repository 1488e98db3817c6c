"""Where jobs run: a file is an executor and its name is its name; `base.py` is the contract."""
