-- CreateTable
CREATE TABLE "channel" (
    "id" TEXT NOT NULL,
    "org_id" TEXT NOT NULL,
    "channel_type" TEXT NOT NULL,
    "destination" TEXT NOT NULL,
    "host" TEXT NOT NULL,
    "is_enabled" BOOLEAN NOT NULL,
    "enabled_at" TIMESTAMPTZ(3) NOT NULL,
    "verified_at" TIMESTAMPTZ(3),
    "failing_since" TIMESTAMPTZ(3),
    "disabled_reason" TEXT,
    "owners_mailed_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "channel_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "signing_secret" (
    "id" TEXT NOT NULL,
    "channel_id" TEXT NOT NULL,
    "sealed" BYTEA NOT NULL,
    "wrapped_key" BYTEA NOT NULL,
    "kek_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "ends_at" TIMESTAMPTZ(3),

    CONSTRAINT "signing_secret_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "policy" (
    "id" TEXT NOT NULL,
    "org_id" TEXT NOT NULL,
    "channel_id" TEXT NOT NULL,
    "alert_type" TEXT NOT NULL,
    "is_enabled" BOOLEAN NOT NULL,
    "threshold_usd" DECIMAL(32,12),
    "threshold_pct" DECIMAL(7,4),
    "effective_from" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "policy_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "event" (
    "id" TEXT NOT NULL,
    "org_id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "source_key" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "body" TEXT NOT NULL,

    CONSTRAINT "event_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "rung" (
    "org_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "detail" TEXT,

    CONSTRAINT "rung_pkey" PRIMARY KEY ("org_id","name")
);

-- CreateTable
CREATE TABLE "delivery" (
    "id" TEXT NOT NULL,
    "event_id" TEXT NOT NULL,
    "channel_id" TEXT NOT NULL,
    "org_id" TEXT NOT NULL,
    "redelivery_of" TEXT,
    "status" TEXT NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "failures" INTEGER NOT NULL DEFAULT 0,
    "next_at" TIMESTAMPTZ(3),
    "attempt_id" TEXT,
    "http_status" INTEGER,
    "error" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "delivery_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "attempt" (
    "id" TEXT NOT NULL,
    "delivery_id" TEXT NOT NULL,
    "n" INTEGER NOT NULL,
    "destination" TEXT NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),
    "outcome" TEXT,
    "http_status" INTEGER,
    "error" TEXT,
    "request_headers" JSONB,
    "response_headers" JSONB,
    "response_body" TEXT,
    "is_cut" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "attempt_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "confirmation" (
    "digest" TEXT NOT NULL,
    "channel_id" TEXT NOT NULL,
    "destination" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "spent_at" TIMESTAMPTZ(3),

    CONSTRAINT "confirmation_pkey" PRIMARY KEY ("digest")
);

-- CreateTable
CREATE TABLE "kek_check" (
    "id" INTEGER NOT NULL,
    "sealed" BYTEA NOT NULL,
    "wrapped_key" BYTEA NOT NULL,
    "kek_id" TEXT NOT NULL,

    CONSTRAINT "kek_check_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "idempotency" (
    "scope" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "body_digest" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "status" INTEGER,
    "body" JSONB,

    CONSTRAINT "idempotency_pkey" PRIMARY KEY ("scope","key")
);

-- CreateTable
CREATE TABLE "audit_log" (
    "id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "org_id" TEXT,
    "actor_kind" TEXT NOT NULL,
    "actor_id" TEXT NOT NULL,
    "ip" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "target_type" TEXT NOT NULL,
    "target_id" TEXT NOT NULL,
    "changed_fields" TEXT[],
    "request_id" TEXT NOT NULL,

    CONSTRAINT "audit_log_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "channel_org_id_created_at_idx" ON "channel"("org_id", "created_at");

-- CreateIndex
CREATE INDEX "signing_secret_channel_id_idx" ON "signing_secret"("channel_id");

-- CreateIndex
CREATE INDEX "policy_org_id_alert_type_idx" ON "policy"("org_id", "alert_type");

-- CreateIndex
CREATE INDEX "policy_channel_id_idx" ON "policy"("channel_id");

-- CreateIndex
CREATE UNIQUE INDEX "event_source_key_key" ON "event"("source_key");

-- CreateIndex
CREATE INDEX "event_created_at_idx" ON "event"("created_at");

-- CreateIndex
CREATE INDEX "delivery_org_id_created_at_id_idx" ON "delivery"("org_id", "created_at" DESC, "id");

-- CreateIndex
CREATE INDEX "delivery_channel_id_created_at_idx" ON "delivery"("channel_id", "created_at" DESC);

-- CreateIndex
CREATE INDEX "delivery_created_at_idx" ON "delivery"("created_at");

-- CreateIndex
CREATE INDEX "attempt_delivery_id_idx" ON "attempt"("delivery_id");

-- CreateIndex
CREATE INDEX "confirmation_channel_id_created_at_idx" ON "confirmation"("channel_id", "created_at");

-- CreateIndex
CREATE INDEX "confirmation_destination_created_at_idx" ON "confirmation"("destination", "created_at");

-- CreateIndex
CREATE INDEX "idempotency_created_at_idx" ON "idempotency"("created_at");

-- CreateIndex
CREATE INDEX "audit_log_org_id_created_at_idx" ON "audit_log"("org_id", "created_at" DESC);

-- AddForeignKey
ALTER TABLE "signing_secret" ADD CONSTRAINT "signing_secret_channel_id_fkey" FOREIGN KEY ("channel_id") REFERENCES "channel"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "policy" ADD CONSTRAINT "policy_channel_id_fkey" FOREIGN KEY ("channel_id") REFERENCES "channel"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "delivery" ADD CONSTRAINT "delivery_event_id_fkey" FOREIGN KEY ("event_id") REFERENCES "event"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "delivery" ADD CONSTRAINT "delivery_channel_id_fkey" FOREIGN KEY ("channel_id") REFERENCES "channel"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "attempt" ADD CONSTRAINT "attempt_delivery_id_fkey" FOREIGN KEY ("delivery_id") REFERENCES "delivery"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "confirmation" ADD CONSTRAINT "confirmation_channel_id_fkey" FOREIGN KEY ("channel_id") REFERENCES "channel"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- An event reaches a channel once; what a person has sent again is a delivery of its own.
CREATE UNIQUE INDEX "delivery_once" ON "delivery" ("event_id", "channel_id") WHERE "redelivery_of" IS NULL;
-- What is open, by channel: a channel with a million due deliveries is looked at like one with five.
CREATE INDEX "delivery_due" ON "delivery" ("channel_id", "next_at") WHERE "next_at" IS NOT NULL;
-- What is being sent: a few rows, for the bounds per channel and host.
CREATE INDEX "delivery_sending" ON "delivery" ("channel_id") WHERE "status" = 'sending';

-- The audit log is append-only for everybody, also for the role that owns the table.
CREATE FUNCTION "refuse_audit_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'audit_log is append-only';
END;
$$;
CREATE TRIGGER "audit_log_append_only" BEFORE UPDATE OR DELETE ON "audit_log"
    FOR EACH ROW EXECUTE FUNCTION "refuse_audit_change"();
