-- DropIndex
DROP INDEX "audit_log_org_id_created_at_idx";

-- AlterTable
ALTER TABLE "user" ADD COLUMN     "locale" TEXT,
ADD COLUMN     "super_admin_at" TIMESTAMPTZ(3),
ADD COLUMN     "time_zone" TEXT,
ALTER COLUMN "password_hash" DROP NOT NULL;

-- AlterTable
ALTER TABLE "session" ADD COLUMN     "ip" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "last_used_at" TIMESTAMPTZ(3),
ADD COLUMN     "user_agent" TEXT NOT NULL DEFAULT '';

-- AlterTable
ALTER TABLE "org" ADD COLUMN     "deleted_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "membership" ADD COLUMN     "source" TEXT NOT NULL DEFAULT 'direct';

-- CreateTable
CREATE TABLE "identity" (
    "issuer" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "identity_pkey" PRIMARY KEY ("issuer","subject")
);

-- CreateTable
CREATE TABLE "invitation" (
    "id" TEXT NOT NULL,
    "org_id" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "role" TEXT NOT NULL,
    "token_digest" TEXT NOT NULL,
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "accepted_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "invitation_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "password_reset" (
    "token_digest" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "password_reset_pkey" PRIMARY KEY ("token_digest")
);

-- CreateTable
CREATE TABLE "mail" (
    "id" TEXT NOT NULL,
    "sealed" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "next_at" TIMESTAMPTZ(3) NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "mail_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "admin_key" (
    "id" TEXT NOT NULL,
    "org_id" TEXT NOT NULL,
    "label" TEXT,
    "scopes" TEXT[],
    "secret_hmac" TEXT NOT NULL,
    "pepper_version" INTEGER NOT NULL,
    "masked_key" TEXT NOT NULL,
    "created_by" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "admin_key_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "identity_user_id_idx" ON "identity"("user_id");

-- CreateIndex
CREATE UNIQUE INDEX "invitation_token_digest_key" ON "invitation"("token_digest");

-- CreateIndex
CREATE INDEX "invitation_org_id_id_idx" ON "invitation"("org_id", "id");

-- CreateIndex
CREATE INDEX "password_reset_user_id_idx" ON "password_reset"("user_id");

-- CreateIndex
CREATE INDEX "password_reset_expires_at_idx" ON "password_reset"("expires_at");

-- CreateIndex
CREATE INDEX "mail_next_at_idx" ON "mail"("next_at");

-- CreateIndex
CREATE UNIQUE INDEX "admin_key_secret_hmac_key" ON "admin_key"("secret_hmac");

-- CreateIndex
CREATE INDEX "admin_key_org_id_id_idx" ON "admin_key"("org_id", "id");

-- CreateIndex
CREATE INDEX "audit_log_org_id_created_at_id_idx" ON "audit_log"("org_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "audit_log_org_id_actor_id_created_at_idx" ON "audit_log"("org_id", "actor_id", "created_at" DESC);

-- CreateIndex
CREATE INDEX "audit_log_org_id_action_created_at_idx" ON "audit_log"("org_id", "action", "created_at" DESC);

-- AddForeignKey
ALTER TABLE "identity" ADD CONSTRAINT "identity_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "invitation" ADD CONSTRAINT "invitation_org_id_fkey" FOREIGN KEY ("org_id") REFERENCES "org"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "password_reset" ADD CONSTRAINT "password_reset_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "admin_key" ADD CONSTRAINT "admin_key_org_id_fkey" FOREIGN KEY ("org_id") REFERENCES "org"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "admin_key" ADD CONSTRAINT "admin_key_created_by_fkey" FOREIGN KEY ("created_by") REFERENCES "user"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- An address has one invitation of an organization that can be accepted.
CREATE UNIQUE INDEX "invitation_one_open" ON "invitation" ("org_id", "email") WHERE "accepted_at" IS NULL AND "revoked_at" IS NULL;
UPDATE "user" SET "super_admin_at" = "created_at" WHERE "is_super_admin";
