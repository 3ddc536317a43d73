-- compatible-with: 0.2.0
-- AlterTable
ALTER TABLE "usage_event" ADD COLUMN     "is_unbilled" BOOLEAN NOT NULL DEFAULT false;
