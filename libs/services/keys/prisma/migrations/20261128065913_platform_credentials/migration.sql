-- compatible-with: 0.2.0
-- CreateTable
CREATE TABLE "platform_credential" (
    "id" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "label" TEXT NOT NULL,
    "masked_credential" TEXT NOT NULL,
    "sealed_credentials" BYTEA,
    "wrapped_key" BYTEA,
    "kek_id" TEXT,
    "version" INTEGER NOT NULL DEFAULT 1,
    "weight" INTEGER NOT NULL DEFAULT 100,
    "rpm_limit" INTEGER,
    "tpm_limit" INTEGER,
    "allowed_models" JSONB,
    "base_url" TEXT,
    "is_enabled" BOOLEAN NOT NULL DEFAULT true,
    "state" TEXT NOT NULL DEFAULT 'ready',
    "state_until" TIMESTAMPTZ(3),
    "state_at" TIMESTAMPTZ(3) NOT NULL,
    "last_error" JSONB,
    "last_used_at" TIMESTAMPTZ(3),
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "platform_credential_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "platform_credential_environment" (
    "provider" TEXT NOT NULL,
    "variable" TEXT NOT NULL,
    "masked_credential" TEXT NOT NULL,
    "reported_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "platform_credential_environment_pkey" PRIMARY KEY ("provider")
);

-- CreateTable
CREATE TABLE "platform_credential_use" (
    "credential_id" TEXT NOT NULL,
    "hour" TIMESTAMPTZ(3) NOT NULL,
    "requests" BIGINT NOT NULL,

    CONSTRAINT "platform_credential_use_pkey" PRIMARY KEY ("credential_id","hour")
);

-- CreateIndex
CREATE INDEX "platform_credential_provider_id_idx" ON "platform_credential"("provider", "id");

-- CreateIndex
CREATE INDEX "platform_credential_kek_id_id_idx" ON "platform_credential"("kek_id", "id");
