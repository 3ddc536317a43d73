-- No read looks for a model without a key or an account.
DROP INDEX "usage_event_model_created_at_idx";

-- Every posting changes updated_at: over a B-tree that wrote all indexes of the row again, over BRIN it is a change in place.
DROP INDEX "account_updated_at_idx";
CREATE INDEX "account_updated_at_idx" ON "account" USING BRIN ("updated_at");

-- Beyond what Prisma expresses. Room for changes in place, and no index entry for every credit of revenue.
ALTER TABLE "account" SET (fillfactor = 50);
ALTER TABLE "spend_total" SET (fillfactor = 70);
ALTER TABLE "spend_hour" SET (fillfactor = 70);
ALTER TABLE "producer" SET (fillfactor = 50);
DROP INDEX "transfer_credit_created_at_idx";
CREATE INDEX "transfer_credit_idx" ON "transfer" ("credit", "created_at" DESC) WHERE credit <> 'revenue';
