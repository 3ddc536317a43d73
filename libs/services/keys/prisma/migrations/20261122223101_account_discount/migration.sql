-- AlterTable
ALTER TABLE "account" ADD COLUMN     "discount" JSONB;
