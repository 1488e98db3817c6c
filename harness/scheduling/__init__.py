"""Which run starts, when and where.

planned run   a spec, and where its parts lie on this machine
job           what an executor is given: runs that run one after the other on one slot
slot          a place for one run at a time: a GPU, or a share of the cores
attempt       one start of a run in its folder, which may have seen earlier ones
outcome       how an attempt ended
"""
