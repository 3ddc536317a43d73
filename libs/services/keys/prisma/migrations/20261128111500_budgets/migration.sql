-- compatible-with: 0.2.0
-- CreateTable
CREATE TABLE "budget" (
    "id" TEXT NOT NULL,
    "org_id" TEXT NOT NULL,
    "scope" TEXT NOT NULL,
    "scope_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "amount_usd" DECIMAL(32,12) NOT NULL,
    "period" TEXT NOT NULL,
    "time_zone" TEXT NOT NULL,
    "raise_by_usd" DECIMAL(32,12),
    "raise_until" TIMESTAMPTZ(3),
    "is_enabled" BOOLEAN NOT NULL,
    "counted_from" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "budget_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "budget_org_id_scope_scope_id_idx" ON "budget"("org_id", "scope", "scope_id");

-- AddForeignKey
ALTER TABLE "budget" ADD CONSTRAINT "budget_org_id_fkey" FOREIGN KEY ("org_id") REFERENCES "org"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
