-- compatible-with: 0.2.0
-- AlterTable
ALTER TABLE "budget" ALTER COLUMN "org_id" DROP NOT NULL;
