-- AlterTable
ALTER TABLE "rejection" ADD COLUMN     "money" JSONB;
