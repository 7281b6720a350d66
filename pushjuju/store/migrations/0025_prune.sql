-- Old rows are found by their time, so that deleting them in batches reads no row that stays.
CREATE INDEX operation_by_end ON operation (model, committed) WHERE committed IS NOT NULL;
CREATE INDEX status_history_by_time ON status_history (model, since);
CREATE INDEX action_operation_by_time ON action_operation (model, enqueued);
