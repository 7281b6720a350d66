-- The decision behind every operation, for `replay`, instead of only those behind a unit's newest failures.

-- decided: the record, deflated; text in rows of earlier releases; NULL for operations that no unit decided. It is
-- a column of this row, since writing a row of another table for each operation took four times as long.
ALTER TABLE operation ADD COLUMN decided BLOB;
UPDATE operation SET decided = (SELECT record FROM decided WHERE decided.operation = operation.id)
  WHERE id IN (SELECT operation FROM decided);
DROP TABLE decided;
