-- Each claim has its own number: a process with an older number has lost the key, whatever its clock shows.

ALTER TABLE work ADD COLUMN lease INTEGER NOT NULL DEFAULT 0;
