-- compatible-with: 0.2.0
-- AlterTable
ALTER TABLE "platform_credentials" ADD COLUMN     "unserved" TEXT[] DEFAULT ARRAY[]::TEXT[];
