-- name: charm_by_url
SELECT * FROM charm WHERE model = :model AND url = :url

-- name: charm_sha256
SELECT sha256 FROM charm WHERE model = :model AND url = :url

-- name: charm_list
SELECT * FROM charm WHERE model = :model ORDER BY url

-- name: charm_delete_unused
-- A charm that is being sent to a machine is in use, too: its unit has it as soon as the result arrives.
DELETE FROM charm WHERE model = :model
  AND NOT EXISTS (SELECT 1 FROM application a WHERE a.model = charm.model AND a.charm_url = charm.url)
  AND NOT EXISTS (SELECT 1 FROM unit u WHERE u.model = charm.model AND u.charm_url = charm.url)
  AND NOT EXISTS (SELECT 1 FROM operation o WHERE o.model = charm.model AND o.state = 'prepared'
                  AND o.document LIKE '%"' || charm.url || '"%')

-- name: blob_uses
-- The number of charms and resources of all models that use a blob.
SELECT (SELECT COUNT(*) FROM charm WHERE sha256 = :sha256)
  + (SELECT COUNT(*) FROM resource WHERE sha256 = :sha256)

-- name: blob_names
SELECT sha256 FROM charm UNION SELECT sha256 FROM resource ORDER BY sha256
