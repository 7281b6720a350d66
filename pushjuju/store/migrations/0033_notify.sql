-- Where users want to be told of events. events, models: names, none for all. body: json or text.
-- shown: the address without what may be secret; sealed: the address and its secret. due, error: after a failure.
CREATE TABLE notify_target (
  name TEXT PRIMARY KEY,
  events TEXT NOT NULL,
  models TEXT NOT NULL,
  body TEXT NOT NULL,
  shown TEXT NOT NULL,
  key TEXT NOT NULL,
  sealed BLOB NOT NULL,
  created TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  due TEXT,
  error TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
-- States of entities of which an event tells: at once, or when they last until due. due is NULL after the event.
CREATE TABLE alarm (
  model TEXT NOT NULL REFERENCES model (uuid) ON DELETE CASCADE,
  kind TEXT NOT NULL,
  entity TEXT NOT NULL,
  event TEXT NOT NULL,
  text TEXT NOT NULL,
  since TEXT NOT NULL,
  due TEXT,
  PRIMARY KEY (model, kind, entity, event)
) WITHOUT ROWID;
-- Events for targets, until some minutes after their delivery. model: empty for events of the controller.
-- time, latest: of the first and the last of `count` equal events.
CREATE TABLE notice (
  model TEXT NOT NULL,
  number INTEGER NOT NULL,
  target TEXT NOT NULL,
  event TEXT NOT NULL,
  kind TEXT NOT NULL,
  entity TEXT NOT NULL,
  text TEXT NOT NULL,
  data TEXT NOT NULL,
  time TEXT NOT NULL,
  latest TEXT NOT NULL,
  count INTEGER NOT NULL DEFAULT 1,
  due TEXT NOT NULL,
  sent TEXT,
  PRIMARY KEY (model, number)
) WITHOUT ROWID;
