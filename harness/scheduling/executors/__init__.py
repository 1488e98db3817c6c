"""Where jobs run: a file is an executor and its name is its name; `contract.py` is the contract."""
