-- AlterTable
ALTER TABLE "spend_window" ADD COLUMN     "tags_claimed_to" TIMESTAMPTZ(0) NOT NULL DEFAULT '1970-01-01T00:00:00Z',
ADD COLUMN     "tags_from" TIMESTAMPTZ(0) NOT NULL DEFAULT '1970-01-01T00:00:00Z',
ADD COLUMN     "tags_to" TIMESTAMPTZ(0) NOT NULL DEFAULT '1970-01-01T00:00:00Z';

-- CreateTable
CREATE TABLE "usage_tag" (
    "account_id" TEXT NOT NULL,
    "slot" TIMESTAMPTZ(0) NOT NULL,
    "tags" INTEGER[],

    CONSTRAINT "usage_tag_pkey" PRIMARY KEY ("account_id","slot")
);

-- Nothing is noted here: the service does it from now on, and backwards through what there is, while it runs.
UPDATE "spend_window" SET (tags_from, tags_to, tags_claimed_to) = (SELECT slot, slot, slot FROM date_bin('15 minutes', now(), '2000-01-01T00:00:00Z') AS slot);
ALTER TABLE "spend_window" ALTER COLUMN "tags_from" DROP DEFAULT, ALTER COLUMN "tags_to" DROP DEFAULT, ALTER COLUMN "tags_claimed_to" DROP DEFAULT;
