-- CreateTable
CREATE TABLE "usage_event" (
    "id" TEXT NOT NULL,
    "request_id" TEXT NOT NULL,
    "unit" INTEGER NOT NULL,
    "account_id" TEXT NOT NULL,
    "org_id" TEXT,
    "team_id" TEXT,
    "member_id" TEXT NOT NULL,
    "key_id" TEXT NOT NULL,
    "endpoint" TEXT NOT NULL,
    "model" TEXT NOT NULL,
    "requested_model" TEXT NOT NULL,
    "provider" TEXT,
    "status" TEXT NOT NULL,
    "outcome" TEXT NOT NULL,
    "http_status" INTEGER NOT NULL,
    "error_code" TEXT,
    "stream" BOOLEAN NOT NULL,
    "prompt_tokens" BIGINT NOT NULL,
    "completion_tokens" BIGINT NOT NULL,
    "usage" JSONB NOT NULL,
    "usage_estimated" BOOLEAN NOT NULL,
    "attempts" JSONB NOT NULL,
    "priced_from" JSONB,
    "cost" DECIMAL(38,12),
    "list_cost" DECIMAL(38,12),
    "house_cost" DECIMAL(38,12),
    "transfer_id" UUID,
    "latency_ms" DOUBLE PRECISION NOT NULL,
    "ttft_ms" DOUBLE PRECISION,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "routing_fallback" BOOLEAN NOT NULL,
    "byok_used" BOOLEAN NOT NULL,
    "cache_hit" BOOLEAN NOT NULL,
    "request_tags" JSONB NOT NULL,
    "end_user_hash" TEXT,
    "api_version" TEXT NOT NULL,
    "producer" TEXT NOT NULL,
    "epoch" TEXT NOT NULL,
    "seq" BIGINT NOT NULL,

    CONSTRAINT "usage_event_pkey" PRIMARY KEY ("request_id","unit")
);

-- CreateTable
CREATE TABLE "account" (
    "id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "posted" DECIMAL(38,12) NOT NULL DEFAULT 0,
    "version" BIGINT NOT NULL DEFAULT 0,
    "org_id" TEXT,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "account_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "transfer" (
    "id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "source" TEXT NOT NULL,
    "debit" TEXT NOT NULL,
    "credit" TEXT NOT NULL,
    "amount" DECIMAL(38,12) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "transfer_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "spend_hour" (
    "account_id" TEXT NOT NULL,
    "scope" TEXT NOT NULL,
    "scope_id" TEXT NOT NULL,
    "hour" TIMESTAMPTZ(0) NOT NULL,
    "amount" DECIMAL(38,12) NOT NULL,

    CONSTRAINT "spend_hour_pkey" PRIMARY KEY ("account_id","scope","scope_id","hour")
);

-- CreateTable
CREATE TABLE "spend_total" (
    "account_id" TEXT NOT NULL,
    "scope" TEXT NOT NULL,
    "scope_id" TEXT NOT NULL,
    "amount" DECIMAL(38,12) NOT NULL,
    "lapsed" DECIMAL(38,12) NOT NULL DEFAULT 0,

    CONSTRAINT "spend_total_pkey" PRIMARY KEY ("account_id","scope","scope_id")
);

-- CreateTable
CREATE TABLE "spend_window" (
    "id" INTEGER NOT NULL,
    "lapsed_to" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "spend_window_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "rejection" (
    "request_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "account_id" TEXT NOT NULL,
    "org_id" TEXT,
    "team_id" TEXT,
    "member_id" TEXT NOT NULL,
    "key_id" TEXT NOT NULL,
    "endpoint" TEXT NOT NULL,
    "model" TEXT,
    "requested_model" TEXT,
    "http_status" INTEGER NOT NULL,
    "code" TEXT NOT NULL,
    "message" TEXT NOT NULL,
    "scope" TEXT,
    "scope_id" TEXT,
    "limit_type" TEXT,
    "count" INTEGER NOT NULL,
    "request_tags" JSONB NOT NULL,
    "producer" TEXT NOT NULL,
    "epoch" TEXT NOT NULL,
    "seq" BIGINT NOT NULL,

    CONSTRAINT "rejection_pkey" PRIMARY KEY ("producer","epoch","seq")
);

-- CreateTable
CREATE TABLE "producer" (
    "producer" TEXT NOT NULL,
    "epoch" TEXT NOT NULL,
    "applied" int8multirange NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "producer_pkey" PRIMARY KEY ("producer","epoch")
);

-- CreateTable
CREATE TABLE "dead_letter" (
    "digest" TEXT NOT NULL,
    "topic" TEXT NOT NULL,
    "partition" INTEGER NOT NULL,
    "offset" TEXT NOT NULL,
    "account_id" TEXT,
    "request_id" TEXT,
    "unit" INTEGER,
    "reason" TEXT NOT NULL,
    "value" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "dead_letter_pkey" PRIMARY KEY ("digest")
);

-- CreateTable
CREATE TABLE "mirror_debt" (
    "account_id" TEXT NOT NULL,
    "request_id" TEXT NOT NULL,
    "unit" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "mirror_debt_pkey" PRIMARY KEY ("account_id","request_id","unit")
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
CREATE UNIQUE INDEX "usage_event_id_key" ON "usage_event"("id");

-- CreateIndex
CREATE INDEX "usage_event_key_id_created_at_id_idx" ON "usage_event"("key_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "usage_event_account_id_created_at_id_idx" ON "usage_event"("account_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "usage_event_model_created_at_idx" ON "usage_event"("model", "created_at" DESC);

-- CreateIndex
CREATE INDEX "usage_event_created_at_idx" ON "usage_event" USING BRIN ("created_at");

-- CreateIndex
CREATE UNIQUE INDEX "usage_event_producer_epoch_seq_key" ON "usage_event"("producer", "epoch", "seq");

-- CreateIndex
CREATE INDEX "account_org_id_idx" ON "account"("org_id");

-- CreateIndex
CREATE INDEX "account_updated_at_idx" ON "account"("updated_at");

-- CreateIndex
CREATE INDEX "transfer_debit_created_at_idx" ON "transfer"("debit", "created_at" DESC);

-- CreateIndex
CREATE INDEX "transfer_credit_created_at_idx" ON "transfer"("credit", "created_at" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "transfer_kind_source_key" ON "transfer"("kind", "source");

-- CreateIndex
CREATE INDEX "spend_total_scope_scope_id_idx" ON "spend_total"("scope", "scope_id");

-- CreateIndex
CREATE INDEX "rejection_request_id_idx" ON "rejection"("request_id");

-- CreateIndex
CREATE INDEX "rejection_key_id_created_at_idx" ON "rejection"("key_id", "created_at" DESC);

-- CreateIndex
CREATE INDEX "rejection_account_id_created_at_idx" ON "rejection"("account_id", "created_at" DESC);

-- CreateIndex
CREATE INDEX "dead_letter_request_id_unit_idx" ON "dead_letter"("request_id", "unit");

-- CreateIndex
CREATE INDEX "dead_letter_created_at_idx" ON "dead_letter"("created_at");

-- CreateIndex
CREATE INDEX "idempotency_created_at_idx" ON "idempotency"("created_at");

-- CreateIndex
CREATE INDEX "audit_log_org_id_created_at_idx" ON "audit_log"("org_id", "created_at" DESC);

-- CreateIndex
CREATE INDEX "outbox_sent_at_created_at_idx" ON "outbox"("sent_at", "created_at");

-- Beyond what Prisma expresses.
ALTER TABLE "transfer" ADD CONSTRAINT "transfer_amount_positive" CHECK (amount > 0);
ALTER TABLE "transfer" ADD CONSTRAINT "transfer_between_two" CHECK (debit <> credit);
ALTER TABLE "usage_event" ADD CONSTRAINT "usage_event_cost_not_negative" CHECK (cost >= 0);
ALTER TABLE "account" ADD CONSTRAINT "account_kind_known" CHECK (kind IN ('customer', 'revenue', 'cash', 'promo', 'house'));
ALTER TABLE "spend_window" ADD CONSTRAINT "spend_window_one_row" CHECK (id = 1);

CREATE FUNCTION "refuse_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END;
$$;
CREATE TRIGGER "transfer_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "transfer"
  FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();
CREATE TRIGGER "audit_log_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "audit_log"
  FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();

INSERT INTO "account" (id, kind) VALUES ('revenue', 'revenue'), ('cash', 'cash'), ('promo', 'promo'), ('house', 'house');
INSERT INTO "spend_window" (id, lapsed_to) VALUES (1, '1970-01-01T00:00:00Z');
