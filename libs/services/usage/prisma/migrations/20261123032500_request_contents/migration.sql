-- CreateTable
CREATE TABLE "request_content" (
    "request_id" TEXT NOT NULL,
    "unit" INTEGER NOT NULL,
    "account_id" TEXT NOT NULL,
    "org_id" TEXT NOT NULL,
    "member_id" TEXT NOT NULL,
    "end_user_hash" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "sealed" BYTEA NOT NULL,
    "wrapped_key" BYTEA NOT NULL,
    "kek_id" TEXT NOT NULL,

    CONSTRAINT "request_content_pkey" PRIMARY KEY ("request_id","unit")
);

-- CreateTable
CREATE TABLE "content_purge" (
    "org_id" TEXT NOT NULL,
    "until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "content_purge_pkey" PRIMARY KEY ("org_id")
);

-- CreateTable
CREATE TABLE "content_kek_check" (
    "id" INTEGER NOT NULL,
    "sealed" BYTEA NOT NULL,
    "wrapped_key" BYTEA NOT NULL,
    "kek_id" TEXT NOT NULL,

    CONSTRAINT "content_kek_check_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "request_content_expires_at_idx" ON "request_content"("expires_at");

-- CreateIndex
CREATE INDEX "request_content_org_id_created_at_idx" ON "request_content"("org_id", "created_at");

-- Beyond what Prisma expresses: most contents name no end user.
CREATE INDEX "request_content_end_user_idx" ON "request_content" ("account_id", "end_user_hash") WHERE end_user_hash IS NOT NULL;
