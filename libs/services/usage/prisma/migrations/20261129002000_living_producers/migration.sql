-- compatible-with: 0.2.0
-- CreateTable
CREATE TABLE "living_producer" (
    "producer" TEXT NOT NULL,
    "epoch" TEXT NOT NULL,
    "heard_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "living_producer_pkey" PRIMARY KEY ("producer","epoch")
);
