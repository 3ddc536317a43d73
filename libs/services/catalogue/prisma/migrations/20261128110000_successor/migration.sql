-- compatible-with: 0.2.0
-- AlterTable
ALTER TABLE "model" ADD COLUMN     "successor" TEXT;
