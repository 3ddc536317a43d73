-- CreateTable
CREATE TABLE "org_defaults" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "fields" JSONB NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "org_defaults_pkey" PRIMARY KEY ("id")
);
