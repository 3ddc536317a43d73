-- compatible-with: 0.2.0
-- Only events whose name is not that of the model which served are in it: of all others the index costs nothing.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "usage_event_asked_name_idx" ON "usage_event" ("account_id", "requested_model", "created_at" DESC, "id" DESC) INCLUDE ("org_id", "member_id", "key_id") WHERE requested_model <> model;
