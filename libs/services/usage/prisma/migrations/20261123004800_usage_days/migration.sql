-- AlterTable
ALTER TABLE "spend_window" ADD COLUMN     "days_to" TIMESTAMPTZ(0) NOT NULL DEFAULT '1970-01-01T00:00:00Z';

-- CreateTable
CREATE TABLE "usage_day" (
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

    CONSTRAINT "usage_day_pkey" PRIMARY KEY ("account_id","slot","key_id","team_id","model","endpoint","status","outcome")
);

-- CreateIndex
CREATE INDEX "usage_day_key_id_slot_idx" ON "usage_day"("key_id", "slot");

-- CreateIndex
CREATE INDEX "usage_slot_slot_idx" ON "usage_slot" USING BRIN ("slot");

-- CreateIndex
CREATE INDEX "usage_slot_account_id_model_slot_idx" ON "usage_slot"("account_id", "model", "slot");

-- Beyond what Prisma expresses. Room for changes in place.
ALTER TABLE "usage_day" SET (fillfactor = 70);

-- The proof of the house reads the few events that cost it something.
CREATE INDEX "usage_event_house_cost_idx" ON "usage_event" ("house_cost") WHERE house_cost IS NOT NULL;

-- Nothing is added up here: the service does it from the first slot on, a quarter of an hour at a time, while it runs.
UPDATE "spend_window" SET days_to = coalesce((SELECT min(slot) FROM "usage_slot"), date_bin('15 minutes', now(), '2000-01-01T00:00:00Z'));
ALTER TABLE "spend_window" ALTER COLUMN "days_to" DROP DEFAULT;
