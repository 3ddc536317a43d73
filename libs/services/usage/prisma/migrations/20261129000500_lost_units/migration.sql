-- compatible-with: 0.2.0
-- CreateTable
CREATE TABLE "lost_unit" (
    "request_id" TEXT NOT NULL,
    "unit" INTEGER NOT NULL,
    "account_id" TEXT NOT NULL,
    "amount" DECIMAL(38,12) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "lost_unit_pkey" PRIMARY KEY ("request_id","unit")
);
