-- compatible-with: 0.2.0
-- Reads the table beside writes.
ALTER TABLE "account" VALIDATE CONSTRAINT "account_kind_known";
