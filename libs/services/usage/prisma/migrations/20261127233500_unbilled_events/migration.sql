-- AlterTable
ALTER TABLE "usage_event" ADD COLUMN     "is_unbilled" BOOLEAN NOT NULL DEFAULT false;
