-- CreateTable
CREATE TABLE "brand" (
    "slug" TEXT NOT NULL,
    "name" TEXT NOT NULL,

    CONSTRAINT "brand_pkey" PRIMARY KEY ("slug")
);

-- CreateTable
CREATE TABLE "provider" (
    "slug" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "dialects" TEXT[],
    "logo" TEXT,
    "regions" TEXT[],
    "zero_retention" BOOLEAN,

    CONSTRAINT "provider_pkey" PRIMARY KEY ("slug")
);

-- CreateTable
CREATE TABLE "model" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "brand" TEXT NOT NULL,
    "model_type" TEXT NOT NULL,
    "context_length" INTEGER NOT NULL,
    "max_output_tokens" INTEGER,
    "input_modalities" TEXT[],
    "output_modalities" TEXT[],
    "supports" TEXT[],
    "reasoning" JSONB NOT NULL,
    "fixes_sampling" BOOLEAN NOT NULL,
    "released" DATE,

    CONSTRAINT "model_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "route" (
    "model_id" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "upstream_model" TEXT NOT NULL,
    "dialect" TEXT NOT NULL,
    "context_length" INTEGER NOT NULL,
    "max_output_tokens" INTEGER,
    "source" TEXT NOT NULL,
    "source_date" DATE NOT NULL,

    CONSTRAINT "route_pkey" PRIMARY KEY ("model_id","provider","upstream_model")
);

-- CreateTable
CREATE TABLE "price" (
    "id" BIGSERIAL NOT NULL,
    "model_id" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "upstream_model" TEXT NOT NULL,
    "effective_date" DATE NOT NULL,
    "record" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "price_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "seed" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "digest" TEXT NOT NULL,
    "imported_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "seed_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "snapshot" (
    "position" BIGSERIAL NOT NULL,
    "id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "digest" TEXT NOT NULL,
    "content" BYTEA NOT NULL,

    CONSTRAINT "snapshot_pkey" PRIMARY KEY ("position")
);

-- CreateTable
CREATE TABLE "outbox" (
    "id" UUID NOT NULL,
    "topic" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "value" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "sent_at" TIMESTAMPTZ(3),

    CONSTRAINT "outbox_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "price_model_id_provider_upstream_model_id_idx" ON "price"("model_id", "provider", "upstream_model", "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "snapshot_id_key" ON "snapshot"("id");
