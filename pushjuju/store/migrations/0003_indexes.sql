-- Indexes in the order in which statements sort rows. Without them, SQLite reads a whole model only to keep an
-- order, since it has no statistics and assumes that every model is small.

DROP INDEX unit_by_application;
DROP INDEX unit_by_machine;
DROP INDEX unit_by_principal;
DROP INDEX relation_endpoint_by_application;
DROP INDEX relation_scope_by_unit;
DROP INDEX task_by_receiver;
CREATE INDEX unit_by_application ON unit (model, application, number);
CREATE INDEX unit_by_machine ON unit (model, machine, application, number);
CREATE INDEX unit_by_principal ON unit (model, principal, application, number);
CREATE INDEX relation_endpoint_by_application ON relation_endpoint (model, application, relation);
CREATE INDEX relation_scope_by_unit ON relation_scope (model, unit, relation);
CREATE INDEX task_by_receiver ON task (model, receiver, kind, status, id);
