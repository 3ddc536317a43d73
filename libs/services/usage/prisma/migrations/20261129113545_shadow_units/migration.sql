-- compatible-with: 0.2.0
-- CreateTable
CREATE TABLE "shadow_unit" (
    "alias_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "shadow_request_id" TEXT NOT NULL,
    "request_id" TEXT NOT NULL,

    CONSTRAINT "shadow_unit_pkey" PRIMARY KEY ("alias_id","created_at","shadow_request_id")
);
