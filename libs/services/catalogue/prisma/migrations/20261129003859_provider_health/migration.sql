-- compatible-with: 0.2.0
-- AlterTable
ALTER TABLE "provider_state" ADD COLUMN     "health" TEXT;
