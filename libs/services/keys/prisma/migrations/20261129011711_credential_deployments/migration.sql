-- compatible-with: 0.2.0
-- AlterTable
ALTER TABLE "platform_credential" ADD COLUMN     "deployments" JSONB;
