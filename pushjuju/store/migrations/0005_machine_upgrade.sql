-- The upgrade of a machine to another base. A lock exists while the machine is being upgraded; each unit on the
-- machine has its own step and the target base. The messages stay until the next upgrade begins, so that
-- commands that follow an upgrade show its last messages, too.

CREATE TABLE machine_upgrade (
  model TEXT NOT NULL,
  machine TEXT NOT NULL,
  from_base TEXT NOT NULL,
  to_base TEXT NOT NULL,
  force INTEGER NOT NULL DEFAULT 0,
  status TEXT NOT NULL,
  created TEXT NOT NULL,
  PRIMARY KEY (model, machine),
  FOREIGN KEY (model, machine) REFERENCES machine (model, id) ON DELETE CASCADE
);

CREATE TABLE machine_upgrade_message (
  id INTEGER PRIMARY KEY,
  model TEXT NOT NULL,
  machine TEXT NOT NULL,
  time TEXT NOT NULL,
  message TEXT NOT NULL,
  FOREIGN KEY (model, machine) REFERENCES machine (model, id) ON DELETE CASCADE
);
CREATE INDEX machine_upgrade_message_by_machine ON machine_upgrade_message (model, machine, id);

ALTER TABLE unit ADD COLUMN series TEXT NOT NULL DEFAULT 'not started';
ALTER TABLE unit ADD COLUMN series_target TEXT NOT NULL DEFAULT '';
