-- name: sequence_next
-- Numbers are never reused, even after the entities with these numbers were removed.
INSERT INTO sequence (scope, name, next) VALUES (:scope, :name, CAST(:at_least AS BIGINT) + :count)
ON CONFLICT (scope, name) DO UPDATE SET
  next = CASE WHEN sequence.next < :at_least THEN :at_least ELSE sequence.next END + :count
RETURNING next - :count AS number

-- name: sequence_give_back
-- Only the last number can be drawn again; any other number stays unused.
UPDATE sequence SET next = :number WHERE scope = :scope AND name = :name AND next = :number + 1

-- name: sequence_unused
DELETE FROM sequence WHERE scope = :scope AND name = :name AND next = 0

-- name: sequence_get
SELECT next FROM sequence WHERE scope = :scope AND name = :name

-- name: sequence_set
INSERT INTO sequence (scope, name, next) VALUES (:scope, :name, :number)

-- name: sequence_raise
INSERT INTO sequence (scope, name, next) VALUES (:scope, :name, :number)
ON CONFLICT (scope, name) DO UPDATE SET next = excluded.next WHERE sequence.next < excluded.next

-- name: sequence_forget
DELETE FROM sequence WHERE scope = :scope AND name = :name

-- name: sequence_delete
DELETE FROM sequence WHERE scope = :scope

-- name: work_touch
INSERT INTO work (key, due, generation, reason, trace, cause) VALUES (:key, :due, 1, :reason, :trace, :cause)
ON CONFLICT (key) DO UPDATE SET
  due = CASE WHEN work.due IS NULL OR :due < work.due THEN :due ELSE work.due END,
  generation = work.generation + 1,
  reason = :reason,
  trace = CASE WHEN work.trace = '' THEN :trace ELSE work.trace END,
  cause = CASE WHEN :cause > work.cause THEN :cause ELSE work.cause END

-- name: work_touch_routine
-- As work_touch, for update-status: the reason of a request that waits stays, and so do the problems of work that failed.
INSERT INTO work (key, due, generation, reason, trace, cause) VALUES (:key, :due, 1, :routine, :trace, :cause)
ON CONFLICT (key) DO UPDATE SET
  due = CASE WHEN work.due IS NULL OR :due < work.due THEN :due ELSE work.due END,
  generation = work.generation + 1,
  reason = CASE WHEN work.failed = 1 OR (work.due <= :due AND work.reason <> '') THEN work.reason ELSE :routine END,
  trace = CASE WHEN work.trace = '' THEN :trace ELSE work.trace END,
  cause = CASE WHEN :cause > work.cause THEN :cause ELSE work.cause END

-- name: work_due
-- Leaves out keys that this process works on, which stay due until the process gives them back.
SELECT key, due, generation, owner, leased_until, lease, attempts, reason, failed, trace, cause FROM work
WHERE due IS NOT NULL AND due <= :now AND key LIKE :prefix || '%'
  AND (owner IS NULL OR owner <> :owner OR leased_until <= :now)
ORDER BY due LIMIT :most

-- name: work_any_due
-- The order makes PostgreSQL use the index of due times, also when it expects more rows than there are.
SELECT 1 FROM work WHERE due IS NOT NULL AND due <= :now AND key LIKE :prefix || '%' ORDER BY due LIMIT 1

-- name: work_left
-- Nobody works on a model that has a key due since :late, and no key that is held. A held key stays due, and keys are
-- claimed in the order of their due times: so a held key is among the first. The orders are for the index, as above.
SELECT 1 FROM work WHERE due IS NOT NULL AND due <= :late AND key LIKE :prefix || '%' AND NOT EXISTS (
  SELECT 1 FROM (
    SELECT owner, leased_until FROM work WHERE due IS NOT NULL AND due <= :now AND key LIKE :prefix || '%'
    ORDER BY due LIMIT 100) AS first
  WHERE owner IS NOT NULL AND leased_until > :now
) ORDER BY due LIMIT 1

-- name: work_asked
-- A machine's row with an empty reason is due by time, not by request. When its due time is also that of a unit's
-- update-status, update-status is due. The reason is :routine while a process has only update-status left to do.
SELECT key, generation FROM work
WHERE due IS NOT NULL AND due <= :now AND key LIKE :prefix || '%'
  AND NOT (key LIKE '%/machine/%' AND (
    (reason = :routine AND due > :routine_since)
    OR (reason = '' AND (owner IS NULL OR owner <> :owner) AND (due > :since OR (due > :routine_since AND EXISTS (
      SELECT 1 FROM unit WHERE unit.model = substr(work.key, 1, instr(work.key, '/') - 1)
        AND unit.machine = substr(work.key, instr(work.key, '/machine/') + 9)
        AND unit.update_status_due = work.due))))))

-- name: work_claim
-- rows: work(key)
UPDATE work SET owner = :owner, leased_until = :leased_until, lease = :lease,
  reason = CASE WHEN reason = '' AND EXISTS (
    SELECT 1 FROM unit WHERE unit.model = substr(work.key, 1, instr(work.key, '/') - 1)
      AND unit.machine = substr(work.key, instr(work.key, '/machine/') + 9) AND unit.update_status_due = work.due)
    THEN :routine ELSE reason END
WHERE key = :key AND generation = :generation AND (owner IS NULL OR owner = :previous)

-- name: work_only_routine
-- rows: work(key)
UPDATE work SET reason = :routine WHERE key = :key AND lease = :lease AND generation = :generation AND owner IS NOT NULL

-- name: work_generation
-- rows: work(key)
SELECT generation, reason, cause FROM work WHERE key = :key

-- name: work_holds
-- rows: work(key)
SELECT owner FROM work WHERE key = :key AND lease = :lease

-- name: work_heartbeat
-- rows: work(key)
UPDATE work SET leased_until = :leased_until WHERE key = :key AND lease = :lease AND owner IS NOT NULL

-- name: work_finish
-- rows: work(key)
-- A key that was woken during the work is due at once, whatever due time the worker sets.
UPDATE work SET
  due = CASE WHEN generation = :generation THEN :due ELSE :now END,
  reason = CASE WHEN generation = :generation OR :reason <> '' THEN :reason ELSE reason END,
  trace = CASE WHEN generation = :generation AND :attempts = 0 THEN '' ELSE trace END,
  cause = CASE WHEN generation = :generation AND :attempts = 0 THEN '' ELSE cause END,
  owner = NULL, leased_until = NULL, attempts = :attempts, failed = :failed
WHERE key = :key AND lease = :lease AND owner IS NOT NULL

-- name: work_free_all
UPDATE work SET owner = NULL, leased_until = NULL, lease = 0

-- name: work_held
SELECT key, lease, attempts, failed FROM work WHERE owner = :owner ORDER BY key

-- name: work_get
-- rows: work(key)
SELECT key, due, generation, owner, leased_until, attempts, reason AS noted, failed FROM work WHERE key = :key

-- name: work_list
-- Characters of keys sort before `~`, so the keys with a prefix are a range of the table's index.
SELECT key, due, owner, leased_until, attempts, reason AS noted, failed FROM work
WHERE key >= :prefix AND key < :prefix || '~' ORDER BY key

-- name: work_failed
-- Keys whose last work failed, with claim numbers of at least :since.
SELECT key, reason FROM work WHERE failed = 1 AND lease >= :since AND key >= :prefix AND key < :prefix || '~' ORDER BY key

-- name: work_failing
-- Machines whose last work failed and will be tried again.
SELECT key, due, owner, leased_until, attempts, reason AS noted, failed FROM work
WHERE key > :model || '/machine/' AND key < :model || '/machine0' AND failed = 1 AND attempts > 0 AND due IS NOT NULL

-- name: machines_unsettled
-- The machines that are worked on, wait for something, have failed, were never reached, or have a unit in error.
SELECT substr(key, length(:model || '/machine/') + 1) AS machine FROM work
WHERE key > :model || '/machine/' AND key < :model || '/machine0'
  AND (owner IS NOT NULL OR failed = 1 OR attempts > 0 OR reason <> '')
UNION
SELECT id FROM machine WHERE model = :model AND last_seen IS NULL
UNION
SELECT u.machine FROM status s CROSS JOIN unit u
WHERE s.model = :model AND s.kind = 'juju-unit' AND s.status = 'error'
  AND u.model = s.model AND u.name = s.entity AND u.machine IS NOT NULL
ORDER BY 1

-- name: work_next_due
SELECT MIN(due) AS due FROM work WHERE due IS NOT NULL AND key >= :prefix AND key < :prefix || '~'

-- name: work_delete
-- rows: work(key)
DELETE FROM work WHERE key = :key

-- name: work_delete_prefix
DELETE FROM work WHERE key >= :prefix AND key < :prefix || '~'

-- name: work_holders
-- The processes that work on models now.
SELECT DISTINCT substr(key, 1, instr(key, '/') - 1) AS model, owner FROM work WHERE owner IS NOT NULL AND leased_until > :now
