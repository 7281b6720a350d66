-- failed: 1 when a key's last work failed: commands report failures of work that another process did.
ALTER TABLE work ADD COLUMN failed INTEGER NOT NULL DEFAULT 0;
CREATE INDEX work_by_failure ON work (key) WHERE failed = 1;
