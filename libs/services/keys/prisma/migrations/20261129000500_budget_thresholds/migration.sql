-- compatible-with: 0.2.0
-- AlterTable
ALTER TABLE "budget" ADD COLUMN     "is_hard" BOOLEAN NOT NULL DEFAULT true,
ADD COLUMN     "thresholds_pct" INTEGER[] DEFAULT ARRAY[]::INTEGER[];
