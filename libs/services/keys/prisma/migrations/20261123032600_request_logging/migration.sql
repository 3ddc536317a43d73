-- AlterTable
ALTER TABLE "org" ADD COLUMN     "request_logging_days" INTEGER NOT NULL DEFAULT 30,
ADD COLUMN     "request_logging_enabled" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "request_logging_redact" BOOLEAN NOT NULL DEFAULT true;
