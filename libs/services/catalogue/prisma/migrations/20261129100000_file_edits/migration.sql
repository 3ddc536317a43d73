-- compatible-with: 0.2.0
-- CreateTable
CREATE TABLE "file_edit" (
    "model_id" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "upstream_model" TEXT NOT NULL,
    "field" TEXT NOT NULL,
    "content" JSONB NOT NULL,

    CONSTRAINT "file_edit_pkey" PRIMARY KEY ("model_id","provider","upstream_model","field")
);
