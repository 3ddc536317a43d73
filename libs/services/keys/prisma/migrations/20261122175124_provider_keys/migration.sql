-- CreateTable
CREATE TABLE "provider_key" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "org_id" TEXT,
    "created_by" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "label" TEXT,
    "masked_credential" TEXT NOT NULL,
    "sealed_credentials" BYTEA NOT NULL,
    "wrapped_key" BYTEA NOT NULL,
    "kek_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "allowed_models" JSONB,
    "allow_platform_fallback" BOOLEAN NOT NULL DEFAULT true,
    "is_enabled" BOOLEAN NOT NULL DEFAULT true,
    "last_error" JSONB,
    "announced" JSONB NOT NULL DEFAULT '{}',
    "last_used_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "provider_key_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "provider_key_account_id_created_at_idx" ON "provider_key"("account_id", "created_at");

-- CreateIndex
CREATE INDEX "provider_key_kek_id_id_idx" ON "provider_key"("kek_id", "id");
