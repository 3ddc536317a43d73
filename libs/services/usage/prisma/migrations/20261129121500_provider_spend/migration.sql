-- compatible-with: 0.2.0
-- unused-since: 0.2.0
-- CreateTable
CREATE TABLE "provider_slot" (
    "provider" TEXT NOT NULL,
    "slot" TIMESTAMPTZ(0) NOT NULL,
    "amount" DECIMAL(38,12) NOT NULL,

    CONSTRAINT "provider_slot_pkey" PRIMARY KEY ("provider","slot")
);

-- Null until a job has begun to add up the events that are there.
ALTER TABLE "spend_window" ADD COLUMN "owed_from" TEXT;

-- Providers have a row for its version alone. No release reads the check; it is replaced by one that lets more in.
ALTER TABLE "account" DROP CONSTRAINT "account_kind_known";
ALTER TABLE "account" ADD CONSTRAINT "account_kind_known" CHECK (kind IN ('customer', 'provider', 'revenue', 'cash', 'promo', 'house')) NOT VALID;
