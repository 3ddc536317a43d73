-- Beyond what Prisma expresses. Summaries and counts of events over a long history read days from this index alone: in the
-- table the rows of an account lie among those of all, each with its classes of durations, so that a third of the events of
-- 90 days was read from more than half of the table's pages.
CREATE INDEX "usage_day_sums_idx" ON "usage_day" ("account_id", "slot")
  INCLUDE ("org_id", "key_id", "team_id", "member_id", "model", "endpoint", "status", "outcome",
           "requests", "prompt_tokens", "completion_tokens", "cost");

-- It answers alone for pages that VACUUM has seen since they changed: by default those of a fifth of the history had not been.
ALTER TABLE "usage_day" SET (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.05);
