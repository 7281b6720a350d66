-- The availability zone that was chosen for a machine before its start; failed: the zones that failed in this
-- round of attempts. A machine of a cloud without zones has no row.

CREATE TABLE machine_zone (
  model TEXT NOT NULL,
  machine TEXT NOT NULL,
  zone TEXT NOT NULL,
  failed TEXT NOT NULL DEFAULT '[]',
  PRIMARY KEY (model, machine),
  FOREIGN KEY (model, machine) REFERENCES machine (model, id) ON DELETE CASCADE
);
CREATE INDEX machine_zone_by_zone ON machine_zone (model, zone);
