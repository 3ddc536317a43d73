-- CreateTable
CREATE TABLE "erased_end_user" (
    "account_id" TEXT NOT NULL,
    "end_user_hash" TEXT NOT NULL,
    "erased_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "erased_end_user_pkey" PRIMARY KEY ("account_id","end_user_hash")
);

-- CreateTable
CREATE TABLE "erasure" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "org_id" TEXT NOT NULL,
    "end_user_hash" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "records_updated" BIGINT NOT NULL DEFAULT 0,
    "requested_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "completed_at" TIMESTAMPTZ(3),
    "swept_at" TIMESTAMPTZ(3),

    CONSTRAINT "erasure_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "erasure_account_id_created_at_idx" ON "erasure"("account_id", "created_at" DESC);

-- CreateIndex
CREATE INDEX "erasure_swept_at_idx" ON "erasure"("swept_at");

-- Beyond what Prisma expresses: most events name no end user.
CREATE INDEX "usage_event_end_user_idx" ON "usage_event" ("account_id", "end_user_hash") WHERE end_user_hash IS NOT NULL;

-- What retention removes is found by its age.
CREATE INDEX "rejection_created_at_idx" ON "rejection" USING BRIN ("created_at");
