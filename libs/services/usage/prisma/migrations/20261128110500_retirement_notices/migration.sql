-- compatible-with: 0.2.0
-- CreateTable
CREATE TABLE "retirement_notice" (
    "org_id" TEXT NOT NULL,
    "model" TEXT NOT NULL,
    "retires_at" DATE NOT NULL,
    "days_left" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "retirement_notice_pkey" PRIMARY KEY ("org_id","model","retires_at","days_left")
);
