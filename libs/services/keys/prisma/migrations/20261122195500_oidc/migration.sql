-- AlterTable
ALTER TABLE "user" ADD COLUMN     "super_admin_source" TEXT;
