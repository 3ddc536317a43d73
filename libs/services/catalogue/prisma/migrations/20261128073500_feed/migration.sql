-- compatible-with: 0.2.0
-- CreateTable
CREATE TABLE "feed" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "version" BIGINT,
    "keyid" TEXT,
    "document_at" TIMESTAMPTZ(3),
    "digest" TEXT,
    "document" BYTEA,
    "layer" BYTEA,
    "dismissed" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "read_at" TIMESTAMPTZ(3),
    "applied_at" TIMESTAMPTZ(3),
    "attempted_at" TIMESTAMPTZ(3),
    "last_error" JSONB,
    "refused_digest" TEXT,

    CONSTRAINT "feed_pkey" PRIMARY KEY ("id")
);
