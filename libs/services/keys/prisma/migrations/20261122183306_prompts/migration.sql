-- CreateTable
CREATE TABLE "prompt_template" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "org_id" TEXT,
    "name" TEXT NOT NULL,
    "description" TEXT,
    "published_version_id" TEXT,
    "latest_version" INTEGER NOT NULL DEFAULT 0,
    "archived" BOOLEAN NOT NULL DEFAULT false,
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "prompt_template_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "prompt_template_version" (
    "id" TEXT NOT NULL,
    "template_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "content" JSONB NOT NULL,
    "notes" TEXT,
    "checksum" TEXT NOT NULL,
    "published_at" TIMESTAMPTZ(3),
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "prompt_template_version_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "memory" (
    "account_id" TEXT NOT NULL,
    "end_user_hash" TEXT NOT NULL,
    "items" JSONB NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "memory_pkey" PRIMARY KEY ("account_id","end_user_hash")
);

-- CreateIndex
CREATE INDEX "prompt_template_account_id_created_at_idx" ON "prompt_template"("account_id", "created_at");

-- CreateIndex
CREATE UNIQUE INDEX "prompt_template_account_id_name_key" ON "prompt_template"("account_id", "name");

-- CreateIndex
CREATE UNIQUE INDEX "prompt_template_version_template_id_version_key" ON "prompt_template_version"("template_id", "version");

-- AddForeignKey
ALTER TABLE "prompt_template_version" ADD CONSTRAINT "prompt_template_version_template_id_fkey" FOREIGN KEY ("template_id") REFERENCES "prompt_template"("id") ON DELETE CASCADE ON UPDATE CASCADE;
