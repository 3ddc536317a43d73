-- compatible-with: 0.2.0
-- AlterTable
ALTER TABLE "budget" ADD COLUMN     "rolling_days" INTEGER;
