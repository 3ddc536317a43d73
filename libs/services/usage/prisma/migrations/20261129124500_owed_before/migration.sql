-- compatible-with: 0.2.0
-- AlterTable
ALTER TABLE "spend_window" ADD COLUMN "owed_from" TEXT;

-- All is added up anew, what postings have added so far too; of a ledger without events there is nothing to add.
DELETE FROM "provider_slot";
UPDATE "spend_window" SET owed_from = '' WHERE NOT EXISTS (SELECT FROM "usage_event");
