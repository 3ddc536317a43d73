-- CreateTable
CREATE TABLE "removed_provider_key" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "org_id" TEXT,
    "provider" TEXT NOT NULL,
    "label" TEXT,
    "announced" JSONB NOT NULL,
    "removed_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "removed_provider_key_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "removed_provider_key_removed_at_idx" ON "removed_provider_key"("removed_at");
