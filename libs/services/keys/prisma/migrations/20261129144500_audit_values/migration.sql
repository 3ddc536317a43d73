-- compatible-with: 0.2.0
-- AlterTable
ALTER TABLE "audit_log" ADD COLUMN     "changed_values" JSONB;
