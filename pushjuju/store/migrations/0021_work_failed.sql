-- Whether a key's last work failed: a command tells so also when another process did the work.
ALTER TABLE work ADD COLUMN failed INTEGER NOT NULL DEFAULT 0;
CREATE INDEX work_by_failure ON work (key) WHERE failed = 1;
