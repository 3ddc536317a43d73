-- AlterTable
ALTER TABLE "dead_letter" ADD COLUMN     "closed_at" TIMESTAMPTZ(3),
ADD COLUMN     "closed_reason" TEXT;
