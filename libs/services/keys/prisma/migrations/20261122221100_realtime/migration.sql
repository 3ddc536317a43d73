-- AlterTable
ALTER TABLE "org" ADD COLUMN     "realtime_enabled" BOOLEAN NOT NULL DEFAULT true,
ADD COLUMN     "realtime_max_seconds" INTEGER,
ADD COLUMN     "realtime_max_sessions" INTEGER,
ADD COLUMN     "realtime_max_tokens" INTEGER;
