-- name: space_list
SELECT * FROM space WHERE model = :model ORDER BY id

-- name: space_rename
UPDATE space SET name = :name WHERE model = :model AND id = :id

-- name: space_delete
DELETE FROM space WHERE model = :model AND id = :id

-- name: subnet_list
SELECT * FROM subnet WHERE model = :model ORDER BY cidr

-- name: subnet_add
INSERT INTO subnet (model, cidr, space) VALUES (:model, :cidr, '0') ON CONFLICT (model, cidr) DO NOTHING

-- name: subnet_move
UPDATE subnet SET space = :space WHERE model = :model AND cidr = :cidr

-- name: subnet_leave
UPDATE subnet SET space = '0' WHERE model = :model AND space = :space

-- name: subnet_delete
DELETE FROM subnet WHERE model = :model AND cidr = :cidr

-- name: binding_list_all
SELECT application, endpoint, space FROM binding WHERE model = :model ORDER BY application, endpoint

-- name: binding_leave
UPDATE binding SET space = '0' WHERE model = :model AND space = :space

-- name: binding_delete
DELETE FROM binding WHERE model = :model AND application = :application AND endpoint = :endpoint

-- name: exposure_set_spaces
UPDATE exposed_endpoint SET spaces = :spaces
WHERE model = :model AND application = :application AND endpoint = :endpoint

-- name: machine_see_again
-- rows: machine(model, id)
UPDATE machine SET look_again = 1 WHERE model = :model AND id = :id

-- name: machine_set_addresses
-- rows: machine(model, id)
UPDATE machine SET addresses = :addresses WHERE model = :model AND id = :id
