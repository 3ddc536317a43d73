-- AlterTable
ALTER TABLE "usage_event" ADD COLUMN     "limits" JSONB;

-- CreateTable
CREATE TABLE "usage_slot" (
    "account_id" TEXT NOT NULL,
    "slot" TIMESTAMPTZ(0) NOT NULL,
    "key_id" TEXT NOT NULL,
    "team_id" TEXT NOT NULL,
    "model" TEXT NOT NULL,
    "endpoint" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "outcome" TEXT NOT NULL,
    "org_id" TEXT,
    "member_id" TEXT NOT NULL,
    "requests" INTEGER NOT NULL,
    "prompt_tokens" BIGINT NOT NULL,
    "completion_tokens" BIGINT NOT NULL,
    "cached_tokens" BIGINT NOT NULL,
    "cost" DECIMAL(38,12) NOT NULL,
    "latency" INTEGER[],
    "ttft" INTEGER[],

    CONSTRAINT "usage_slot_pkey" PRIMARY KEY ("account_id","slot","key_id","team_id","model","endpoint","status","outcome")
);

-- CreateIndex
CREATE INDEX "usage_slot_key_id_slot_idx" ON "usage_slot"("key_id", "slot");

-- Beyond what Prisma expresses. Room for changes in place.
ALTER TABLE "usage_slot" SET (fillfactor = 70);

-- Events that stand for a died process are in no slot: reads add the few there are.
CREATE INDEX "usage_event_crashed_idx" ON "usage_event" ("account_id", "created_at") WHERE error_code = 'gateway_crash';

-- What earlier releases have posted.
INSERT INTO "usage_slot" (account_id, slot, key_id, team_id, model, endpoint, status, outcome, org_id, member_id,
  requests, prompt_tokens, completion_tokens, cached_tokens, cost, latency, ttft)
SELECT account_id, slot, key_id, team, model, endpoint, status, outcome, min(org_id), min(member_id),
  count(*), sum(prompt_tokens), sum(completion_tokens), sum(cached), sum(coalesce(cost, 0)),
  ARRAY[count(*) FILTER (WHERE latency_class = 1), count(*) FILTER (WHERE latency_class = 2), count(*) FILTER (WHERE latency_class = 3), count(*) FILTER (WHERE latency_class = 4), count(*) FILTER (WHERE latency_class = 5), count(*) FILTER (WHERE latency_class = 6), count(*) FILTER (WHERE latency_class = 7), count(*) FILTER (WHERE latency_class = 8), count(*) FILTER (WHERE latency_class = 9), count(*) FILTER (WHERE latency_class = 10), count(*) FILTER (WHERE latency_class = 11), count(*) FILTER (WHERE latency_class = 12), count(*) FILTER (WHERE latency_class = 13), count(*) FILTER (WHERE latency_class = 14), count(*) FILTER (WHERE latency_class = 15), count(*) FILTER (WHERE latency_class = 16), count(*) FILTER (WHERE latency_class = 17), count(*) FILTER (WHERE latency_class = 18), count(*) FILTER (WHERE latency_class = 19), count(*) FILTER (WHERE latency_class = 20)],
  ARRAY[count(*) FILTER (WHERE ttft_class = 1), count(*) FILTER (WHERE ttft_class = 2), count(*) FILTER (WHERE ttft_class = 3), count(*) FILTER (WHERE ttft_class = 4), count(*) FILTER (WHERE ttft_class = 5), count(*) FILTER (WHERE ttft_class = 6), count(*) FILTER (WHERE ttft_class = 7), count(*) FILTER (WHERE ttft_class = 8), count(*) FILTER (WHERE ttft_class = 9), count(*) FILTER (WHERE ttft_class = 10), count(*) FILTER (WHERE ttft_class = 11), count(*) FILTER (WHERE ttft_class = 12), count(*) FILTER (WHERE ttft_class = 13), count(*) FILTER (WHERE ttft_class = 14), count(*) FILTER (WHERE ttft_class = 15), count(*) FILTER (WHERE ttft_class = 16), count(*) FILTER (WHERE ttft_class = 17), count(*) FILTER (WHERE ttft_class = 18), count(*) FILTER (WHERE ttft_class = 19), count(*) FILTER (WHERE ttft_class = 20)]
FROM (
  SELECT *, date_bin('15 minutes', created_at, '2000-01-01T00:00:00Z') AS slot, coalesce(team_id, '') AS team,
    CASE WHEN usage ->> 'cached_tokens' ~ '^[0-9]{1,15}$' THEN (usage ->> 'cached_tokens')::bigint ELSE 0 END AS cached,
    width_bucket(latency_ms, '{4,8,16,32,64,128,256,512,1024,2048,4096,8192,16384,32768,65536,131072,262144,524288,1048576}'::float8[]) + 1 AS latency_class,
    width_bucket(ttft_ms, '{4,8,16,32,64,128,256,512,1024,2048,4096,8192,16384,32768,65536,131072,262144,524288,1048576}'::float8[]) + 1 AS ttft_class
  FROM "usage_event" WHERE error_code IS DISTINCT FROM 'gateway_crash'
) AS event
GROUP BY account_id, slot, key_id, team, model, endpoint, status, outcome;

-- CreateTable
CREATE TABLE "usage_export" (
    "token_digest" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "question" JSONB NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "usage_export_pkey" PRIMARY KEY ("token_digest")
);

-- CreateIndex
CREATE INDEX "usage_export_expires_at_idx" ON "usage_export"("expires_at");
