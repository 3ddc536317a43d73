-- AlterTable
ALTER TABLE "org" ADD COLUMN     "request_logging_past" JSONB NOT NULL DEFAULT '[]';
