-- Each statement reads all models, and the database counts: a scrape runs as many statements for one unit as for 10,000.

-- name: hook_tally_add
-- A hook of an application that is gone is not counted.
INSERT INTO hook_tally (model, application, hook, result, bound_ms, runs, milliseconds)
SELECT model, name, :hook, :result, :bound_ms, 1, :milliseconds FROM application
WHERE model = :model AND name = :application
ON CONFLICT (model, application, hook, result, bound_ms) DO UPDATE SET
  runs = hook_tally.runs + 1, milliseconds = hook_tally.milliseconds + excluded.milliseconds

-- name: metrics_hooks
SELECT model, application, hook, result, bound_ms, runs, milliseconds FROM hook_tally
ORDER BY model, application, hook, result, bound_ms

-- name: tally_add
-- What happens while a model is removed is not counted.
INSERT INTO tally (model, metric, labels, bound_ms, number, milliseconds)
SELECT uuid, :metric, :labels, :bound_ms, :number, :milliseconds FROM model WHERE uuid = :model
ON CONFLICT (model, metric, labels, bound_ms) DO UPDATE SET
  number = tally.number + excluded.number, milliseconds = tally.milliseconds + excluded.milliseconds

-- name: metrics_tally
SELECT model, metric, labels, bound_ms, number, milliseconds FROM tally ORDER BY model, metric, labels, bound_ms

-- name: metrics_units
-- As in `status`, a unit whose agent is in error shows the status `error`.
SELECT u.model AS model, u.application AS application,
  CASE WHEN a.status = 'error' THEN 'error' ELSE COALESCE(w.status, 'unknown') END AS status, COUNT(*) AS units,
  MIN(CASE WHEN a.status = 'error' THEN a.since ELSE w.since END) AS since, MAX(u.retry_count) AS attempts
FROM unit u
LEFT JOIN status w ON w.model = u.model AND w.kind = 'workload' AND w.entity = u.name
LEFT JOIN status a ON a.model = u.model AND a.kind = 'juju-unit' AND a.entity = u.name
GROUP BY 1, 2, 3 ORDER BY 1, 2, 3

-- name: metrics_each_unit
SELECT u.model AS model, u.name AS unit,
  CASE WHEN a.status = 'error' THEN 'error' ELSE COALESCE(w.status, 'unknown') END AS status
FROM unit u
LEFT JOIN status w ON w.model = u.model AND w.kind = 'workload' AND w.entity = u.name
LEFT JOIN status a ON a.model = u.model AND a.kind = 'juju-unit' AND a.entity = u.name
ORDER BY 1, 2

-- name: metrics_applications
SELECT a.model AS model, a.name AS application, COALESCE(s.status, 'unset') AS status FROM application a
LEFT JOIN status s ON s.model = a.model AND s.kind = 'application' AND s.entity = a.name
ORDER BY 1, 2

-- name: metrics_machines
-- As in `status`, a machine is down when it was not reached since :lost, or its cloud says that the machine is
-- stopped or gone (:gone is the code in the status's data).
SELECT m.model AS model, CASE
    WHEN COALESCE(s.status, 'pending') IN ('pending', 'stopped') THEN COALESCE(s.status, 'pending')
    WHEN m.unreachable_since <= :lost OR i.status = 'stopped' OR (i.status = 'unknown' AND instr(i.data, :gone) > 0)
    THEN 'down' ELSE s.status END AS status, COUNT(*) AS machines, MIN(m.last_seen) AS contact
FROM machine m
LEFT JOIN status s ON s.model = m.model AND s.kind = 'juju-machine' AND s.entity = m.id
LEFT JOIN status i ON i.model = m.model AND i.kind = 'machine' AND i.entity = m.id
GROUP BY 1, 2 ORDER BY 1, 2

-- name: metrics_models
SELECT m.uuid, m.owner || '/' || m.name AS name, c.value AS pool FROM model m
LEFT JOIN model_config c ON c.model = m.uuid AND c.key = 'controller-pool' ORDER BY m.name

-- name: metrics_queue
SELECT substr(key, 1, instr(key, '/') - 1) AS model, CASE WHEN key LIKE '%/machine/%' THEN 'machine' ELSE 'loop' END AS kind,
  CASE WHEN owner IS NOT NULL AND leased_until > :now THEN 'held' WHEN due <= :late THEN 'late'
    WHEN due <= :now THEN 'due' ELSE 'waiting' END AS state,
  COUNT(*) AS items, MIN(due) AS due
FROM work WHERE due IS NOT NULL OR owner IS NOT NULL GROUP BY 1, 2, 3 ORDER BY 1, 2, 3

-- name: metrics_secrets
SELECT model, COUNT(*) AS revisions FROM secret_revision
WHERE next_expiry IS NOT NULL AND next_expiry <= :until GROUP BY model ORDER BY model
