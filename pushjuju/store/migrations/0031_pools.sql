-- pools: the names of the pools of models that the process works, besides models of no pool; separated by commas
ALTER TABLE process ADD COLUMN pools TEXT NOT NULL DEFAULT '';
