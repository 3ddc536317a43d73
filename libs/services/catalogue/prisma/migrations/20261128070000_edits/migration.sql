-- compatible-with: 0.2.0
-- CreateTable
CREATE TABLE "edit" (
    "model_id" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "upstream_model" TEXT NOT NULL,
    "field" TEXT NOT NULL,
    "content" JSONB NOT NULL,
    "edited_at" TIMESTAMPTZ(3) NOT NULL,
    "edited_by" TEXT,

    CONSTRAINT "edit_pkey" PRIMARY KEY ("model_id","provider","upstream_model","field")
);
