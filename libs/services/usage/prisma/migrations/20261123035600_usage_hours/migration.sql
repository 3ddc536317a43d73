-- AlterTable
ALTER TABLE "spend_window" ADD COLUMN     "hours_from" TIMESTAMPTZ(0) NOT NULL DEFAULT '1970-01-01T00:00:00Z';

-- CreateTable
CREATE TABLE "usage_hour" (
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

    CONSTRAINT "usage_hour_pkey" PRIMARY KEY ("account_id","slot","key_id","team_id","model","endpoint","status","outcome")
);

-- Beyond what Prisma expresses. Room for changes in place.
ALTER TABLE "usage_hour" SET (fillfactor = 70);

-- Nothing is added up here: the service does it from now on, and backwards through what there is, while it runs.
UPDATE "spend_window" SET hours_from = date_trunc('hour', days_to + interval '45 minutes', 'UTC');
ALTER TABLE "spend_window" ALTER COLUMN "hours_from" DROP DEFAULT;
