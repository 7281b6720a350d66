-- The decision behind every operation, for `replay`: no longer only those behind a unit's newest failures.

-- decided: the record, deflated; text where an earlier release kept it. On the hot path, hence in the row that is
-- written anyway: a table of its own cost four times as much. Empty for what no unit decided.
ALTER TABLE operation ADD COLUMN decided BLOB;
UPDATE operation SET decided = (SELECT record FROM decided WHERE decided.operation = operation.id)
  WHERE id IN (SELECT operation FROM decided);
DROP TABLE decided;
