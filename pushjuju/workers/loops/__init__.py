"""Work that belongs to a model and to no machine, done from time to time."""
