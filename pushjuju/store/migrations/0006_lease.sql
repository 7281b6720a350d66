-- Each claim has a number of its own: who holds an older one has lost the key, whatever its clock says.

ALTER TABLE work ADD COLUMN lease INTEGER NOT NULL DEFAULT 0;
