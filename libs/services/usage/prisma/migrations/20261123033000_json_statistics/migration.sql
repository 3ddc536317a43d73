-- ANALYZE sorts samples of every column; of these no plan asks, and comparing JSON was a third of PostgreSQL's time beside a
-- table that grows fast.
ALTER TABLE "usage_event"
  ALTER COLUMN "usage" SET STATISTICS 0,
  ALTER COLUMN "attempts" SET STATISTICS 0,
  ALTER COLUMN "priced_from" SET STATISTICS 0,
  ALTER COLUMN "limits" SET STATISTICS 0;
