-- CreateTable
CREATE TABLE "provider_state" (
    "provider" TEXT NOT NULL,
    "edge" TEXT NOT NULL,
    "breaker" TEXT NOT NULL,
    "last_error" JSONB,
    "reported_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "provider_state_pkey" PRIMARY KEY ("provider","edge")
);
