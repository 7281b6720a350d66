-- charm_gone: 1 when a unit's charm directory is missing on the machine, so that the charm must be sent again.

ALTER TABLE unit ADD COLUMN charm_gone INTEGER NOT NULL DEFAULT 0;
