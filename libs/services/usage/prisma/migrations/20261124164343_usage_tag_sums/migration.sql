-- CreateTable
CREATE TABLE "usage_tag_day" (
    "account_id" TEXT NOT NULL,
    "day" TIMESTAMPTZ(0) NOT NULL,
    "changes" INTEGER NOT NULL DEFAULT 0,
    "summed" INTEGER,
    "names" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "left_out" TEXT[],

    CONSTRAINT "usage_tag_day_pkey" PRIMARY KEY ("account_id","day")
);

-- CreateTable
CREATE TABLE "usage_tag_sum" (
    "account_id" TEXT NOT NULL,
    "day" TIMESTAMPTZ(0) NOT NULL,
    "name" TEXT NOT NULL,
    "value" TEXT NOT NULL,
    "model" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "org_id" TEXT NOT NULL,
    "requests" INTEGER NOT NULL,
    "prompt_tokens" BIGINT NOT NULL,
    "completion_tokens" BIGINT NOT NULL,
    "cached_tokens" BIGINT NOT NULL,
    "cost" DECIMAL(38,12) NOT NULL,
    "latency" INTEGER[],
    "ttft" INTEGER[],

    CONSTRAINT "usage_tag_sum_pkey" PRIMARY KEY ("account_id","day","name","value","model","status","org_id")
);

-- Beyond what Prisma expresses: the round looks for what is not added up.
CREATE INDEX "usage_tag_day_due_idx" ON "usage_tag_day" ("day") WHERE summed IS DISTINCT FROM changes;

-- What is noted already. The service adds it up while it runs, the newest days first.
INSERT INTO "usage_tag_day" (account_id, day) SELECT DISTINCT account_id, date_trunc('day', slot, 'UTC') FROM "usage_tag";
