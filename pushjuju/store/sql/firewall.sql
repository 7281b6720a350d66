-- name: exposure_list
SELECT * FROM exposed_endpoint WHERE model = :model AND application = :application ORDER BY endpoint

-- name: exposure_of_model
SELECT * FROM exposed_endpoint WHERE model = :model ORDER BY application, endpoint

-- name: exposure_on_machine
-- A cross join keeps the order of the tables: from the machine's units to their applications' exposures.
SELECT DISTINCT e.* FROM unit u CROSS JOIN exposed_endpoint e
WHERE u.model = :model AND u.machine = :machine AND e.model = u.model AND e.application = u.application

-- name: exposure_set
INSERT INTO exposed_endpoint (model, application, endpoint, spaces, cidrs)
VALUES (:model, :application, :endpoint, :spaces, :cidrs)
ON CONFLICT (model, application, endpoint) DO UPDATE SET spaces = :spaces, cidrs = :cidrs

-- name: exposure_delete
DELETE FROM exposed_endpoint WHERE model = :model AND application = :application AND endpoint = :endpoint

-- name: application_set_exposed
-- rows: application(model, name)
UPDATE application SET exposed = :exposed WHERE model = :model AND name = :name

-- name: machine_reach
SELECT addresses, ssh FROM machine WHERE model = :model

-- name: firewall_get
-- rows: machine_firewall(model, machine)
SELECT * FROM machine_firewall WHERE model = :model AND machine = :machine

-- name: firewall_changes_of_all
SELECT changes FROM model_firewall WHERE model = :model

-- name: firewall_add
-- rows: machine_firewall(model, machine)
INSERT INTO machine_firewall (model, machine) VALUES (:model, :machine) ON CONFLICT (model, machine) DO NOTHING

-- name: firewall_change
-- rows: machine_firewall(model, machine)
UPDATE machine_firewall SET changes = changes + 1 WHERE model = :model AND machine = :machine

-- name: firewall_change_all
INSERT INTO model_firewall (model, changes)
SELECT :model, 1 WHERE EXISTS (SELECT 1 FROM machine_firewall WHERE model = :model)
ON CONFLICT (model) DO UPDATE SET changes = model_firewall.changes + 1

-- name: firewall_count
SELECT count(*) FROM machine_firewall WHERE model = :model

-- name: firewall_wake
-- Like work_touch, for many machines at once.
INSERT INTO work (key, due, generation, reason, trace)
SELECT :workers || machine, :due, 1, :reason, :trace FROM machine_firewall
WHERE model = :model AND changes + COALESCE((SELECT changes FROM model_firewall WHERE model = :model), 0) <> seen
ON CONFLICT (key) DO UPDATE SET
  due = CASE WHEN work.due IS NULL OR :due < work.due THEN :due ELSE work.due END,
  generation = work.generation + 1,
  reason = :reason,
  trace = CASE WHEN work.trace = '' THEN :trace ELSE work.trace END

-- name: firewall_is_behind
SELECT EXISTS (
  SELECT 1 FROM machine_firewall
  WHERE model = :model AND problem = '' AND machine <> :machine
    AND changes + COALESCE((SELECT changes FROM model_firewall WHERE model = :model), 0) <> seen
)

-- name: firewall_wake_connected
-- As firewall_wake, for the machines of an application and of all applications that relations connect with it;
-- machines with a problem have their own time for the next attempt.
WITH RECURSIVE connected (application) AS (
  SELECT name FROM application WHERE model = :model AND name = :application
  UNION
  SELECT other.application FROM connected c
  CROSS JOIN relation_endpoint mine CROSS JOIN relation_endpoint other
  WHERE mine.model = :model AND mine.application = c.application
    AND other.model = :model AND other.relation = mine.relation
)
INSERT INTO work (key, due, generation, reason, trace)
SELECT DISTINCT :workers || f.machine, :due, 1, :reason, :trace FROM connected c
CROSS JOIN unit u CROSS JOIN machine_firewall f
WHERE u.model = :model AND u.application = c.application
  AND f.model = :model AND f.machine = u.machine AND f.problem = ''
  AND f.changes + COALESCE((SELECT changes FROM model_firewall WHERE model = :model), 0) <> f.seen
ON CONFLICT (key) DO UPDATE SET
  due = CASE WHEN work.due IS NULL OR :due < work.due THEN :due ELSE work.due END,
  generation = work.generation + 1,
  reason = :reason,
  trace = CASE WHEN work.trace = '' THEN :trace ELSE work.trace END

-- name: firewall_seen
-- rows: machine_firewall(model, machine)
UPDATE machine_firewall SET seen = :seen, problem = '' WHERE model = :model AND machine = :machine

-- name: firewall_applied
-- rows: machine_firewall(model, machine)
UPDATE machine_firewall SET seen = :seen, applied = :applied, applied_at = :now, boot_id = :boot_id, problem = ''
WHERE model = :model AND machine = :machine

-- name: firewall_reached
-- rows: machine_firewall(model, machine)
UPDATE machine_firewall SET ssh_port = :ssh_port, peers = :peers WHERE model = :model AND machine = :machine

-- name: firewall_problem
-- rows: machine_firewall(model, machine)
UPDATE machine_firewall SET problem = :problem, applied = '' WHERE model = :model AND machine = :machine

-- name: firewall_problems
SELECT machine, problem FROM machine_firewall WHERE model = :model AND problem <> '' ORDER BY machine

-- name: firewall_delete
-- rows: machine_firewall(model, machine)
DELETE FROM machine_firewall WHERE model = :model AND machine = :machine
