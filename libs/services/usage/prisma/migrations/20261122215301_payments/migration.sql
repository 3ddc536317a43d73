-- AlterTable
ALTER TABLE "transfer" ADD COLUMN     "reason" TEXT;

-- CreateTable
CREATE TABLE "payment" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "org_id" TEXT,
    "user_id" TEXT,
    "kind" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "amount" DECIMAL(38,12) NOT NULL,
    "currency" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "intent" TEXT,
    "reason" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "payment_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "payment_event" (
    "id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "intent" TEXT,
    "value" JSONB NOT NULL,
    "received_at" TIMESTAMPTZ(3) NOT NULL,
    "applied_at" TIMESTAMPTZ(3),

    CONSTRAINT "payment_event_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "billing" (
    "account_id" TEXT NOT NULL,
    "org_id" TEXT,
    "enabled" BOOLEAN NOT NULL DEFAULT false,
    "threshold" DECIMAL(38,12),
    "amount" DECIMAL(38,12),
    "monthly_limit" DECIMAL(38,12),
    "customer" TEXT,
    "payment_method" TEXT,
    "failures" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3),
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "billing_pkey" PRIMARY KEY ("account_id")
);

-- CreateTable
CREATE TABLE "coupon" (
    "code" TEXT NOT NULL,
    "amount" DECIMAL(38,12) NOT NULL,
    "max_redemptions" INTEGER,
    "redemptions" INTEGER NOT NULL DEFAULT 0,
    "expires_at" TIMESTAMPTZ(3),
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "coupon_pkey" PRIMARY KEY ("code")
);

-- CreateIndex
CREATE UNIQUE INDEX "payment_intent_key" ON "payment"("intent");

-- CreateIndex
CREATE INDEX "payment_account_id_created_at_idx" ON "payment"("account_id", "created_at" DESC);

-- CreateIndex
CREATE INDEX "payment_event_intent_idx" ON "payment_event"("intent");

-- CreateIndex
CREATE INDEX "billing_enabled_idx" ON "billing"("enabled");

-- CreateIndex
CREATE INDEX "coupon_created_at_idx" ON "coupon"("created_at" DESC);

-- Beyond what Prisma expresses: one recharge of an account is under way at a time.
CREATE UNIQUE INDEX "payment_recharge_pending_idx" ON "payment" ("account_id") WHERE kind = 'auto_recharge' AND state = 'pending';
