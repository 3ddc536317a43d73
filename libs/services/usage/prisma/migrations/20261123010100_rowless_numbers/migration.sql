-- AlterTable
ALTER TABLE "producer" ADD COLUMN     "rowless" int8multirange NOT NULL DEFAULT '{}'::int8multirange;

-- What earlier releases have applied is not judged: they did not note which numbers have no row.
UPDATE "producer" SET rowless = int8multirange(int8range(1, upper(applied))) WHERE NOT isempty(applied);
