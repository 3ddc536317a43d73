-- compatible-with: 0.2.0
-- CreateTable
CREATE TABLE "carried_scope" (
    "account_id" TEXT NOT NULL,
    "scope" TEXT NOT NULL,
    "scope_id" TEXT NOT NULL,
    "since" TIMESTAMPTZ(0) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "carried_scope_pkey" PRIMARY KEY ("account_id","scope","scope_id")
);

-- CreateTable
CREATE TABLE "carried_hour" (
    "account_id" TEXT NOT NULL,
    "scope" TEXT NOT NULL,
    "scope_id" TEXT NOT NULL,
    "hour" TIMESTAMPTZ(0) NOT NULL,
    "amount" DECIMAL(38,12) NOT NULL,

    CONSTRAINT "carried_hour_pkey" PRIMARY KEY ("account_id","scope","scope_id","hour")
);
