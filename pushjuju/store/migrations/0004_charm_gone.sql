-- What a machine told of a unit's charm: 1, its directory is not there, and the charm is to be brought again.

ALTER TABLE unit ADD COLUMN charm_gone INTEGER NOT NULL DEFAULT 0;
