-- compatible-with: 0.2.0
-- CreateTable
CREATE TABLE "provider_slot" (
    "provider" TEXT NOT NULL,
    "slot" TIMESTAMPTZ(0) NOT NULL,
    "amount" DECIMAL(38,12) NOT NULL,

    CONSTRAINT "provider_slot_pkey" PRIMARY KEY ("provider","slot")
);

-- Providers have a row for its version alone.
ALTER TABLE "account" DROP CONSTRAINT "account_kind_known";
ALTER TABLE "account" ADD CONSTRAINT "account_kind_known" CHECK (kind IN ('customer', 'provider', 'revenue', 'cash', 'promo', 'house'));
