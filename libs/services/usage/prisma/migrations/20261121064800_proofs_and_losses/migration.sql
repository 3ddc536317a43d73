-- AlterTable
ALTER TABLE "dead_letter" ADD COLUMN     "applied_at" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "lost_range" (
    "id" UUID NOT NULL,
    "producer" TEXT NOT NULL,
    "epoch" TEXT NOT NULL,
    "first_seq" BIGINT NOT NULL,
    "last_seq" BIGINT NOT NULL,
    "reason" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "lost_range_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "usage_event_transfer_id_idx" ON "usage_event" USING BRIN ("transfer_id");
