-- Actions and commands of users: an operation groups tasks, one per receiver; both draw their numbers from the
-- same sequence. Payloads that charms register.

CREATE TABLE action_operation (
  model TEXT NOT NULL REFERENCES model (uuid) ON DELETE CASCADE,
  id INTEGER NOT NULL,
  summary TEXT NOT NULL,
  fail TEXT NOT NULL DEFAULT '',
  enqueued TEXT NOT NULL,
  PRIMARY KEY (model, id)
);

-- receiver: a unit, or the id of a machine (kind 'machine'); parallel and execution_group: as the action declares.
CREATE TABLE task (
  model TEXT NOT NULL,
  id INTEGER NOT NULL,
  operation INTEGER NOT NULL,
  kind TEXT NOT NULL,
  receiver TEXT NOT NULL,
  action TEXT NOT NULL,
  parameters TEXT NOT NULL DEFAULT '{}',
  parallel INTEGER NOT NULL DEFAULT 0,
  execution_group TEXT NOT NULL DEFAULT '',
  status TEXT NOT NULL,
  message TEXT NOT NULL DEFAULT '',
  results TEXT NOT NULL DEFAULT '{}',
  enqueued TEXT NOT NULL,
  started TEXT,
  completed TEXT,
  PRIMARY KEY (model, id),
  FOREIGN KEY (model, operation) REFERENCES action_operation (model, id) ON DELETE CASCADE
);
CREATE INDEX task_by_operation ON task (model, operation);
CREATE INDEX task_by_receiver ON task (model, receiver, status);

CREATE TABLE task_log (
  id INTEGER PRIMARY KEY,
  model TEXT NOT NULL,
  task INTEGER NOT NULL,
  time TEXT NOT NULL,
  message TEXT NOT NULL,
  FOREIGN KEY (model, task) REFERENCES task (model, id) ON DELETE CASCADE
);
CREATE INDEX task_log_by_task ON task_log (model, task, id);

CREATE TABLE payload (
  model TEXT NOT NULL,
  unit TEXT NOT NULL,
  payload_class TEXT NOT NULL,
  type TEXT NOT NULL,
  id TEXT NOT NULL,
  labels TEXT NOT NULL DEFAULT '[]',
  status TEXT NOT NULL,
  PRIMARY KEY (model, unit, payload_class, id),
  FOREIGN KEY (model, unit) REFERENCES unit (model, name) ON DELETE CASCADE
);
