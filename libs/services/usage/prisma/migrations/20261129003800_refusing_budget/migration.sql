-- compatible-with: 0.2.0
-- AlterTable
ALTER TABLE "rejection" ADD COLUMN     "budget_id" TEXT;
