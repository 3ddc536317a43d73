-- compatible-with: 0.2.0
-- AlterTable
ALTER TABLE "alias" ADD COLUMN     "shadow" JSONB;
