-- CreateTable
CREATE TABLE "platform_credentials" (
    "edge" TEXT NOT NULL,
    "providers" TEXT[],
    "reported_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "platform_credentials_pkey" PRIMARY KEY ("edge")
);
