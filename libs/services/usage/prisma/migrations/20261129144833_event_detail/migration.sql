-- compatible-with: 0.2.0
-- The former release writes neither new column. Nothing searches the text: PostgreSQL keeps no statistics of it.
ALTER TABLE "usage_event" ADD COLUMN     "cached_tokens" BIGINT,
ADD COLUMN     "detail" TEXT,
ALTER COLUMN "usage" DROP NOT NULL,
ALTER COLUMN "attempts" DROP NOT NULL,
ALTER COLUMN "detail" SET STATISTICS 0;
