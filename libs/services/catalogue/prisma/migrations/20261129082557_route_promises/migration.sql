-- compatible-with: 0.2.0
-- AlterTable
ALTER TABLE "route" ADD COLUMN     "regions" TEXT[] DEFAULT ARRAY[]::TEXT[],
ADD COLUMN     "zero_retention" BOOLEAN;
