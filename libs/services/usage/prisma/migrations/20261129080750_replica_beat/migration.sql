-- compatible-with: 0.2.0
-- CreateTable
CREATE TABLE "replica_beat" (
    "id" INTEGER NOT NULL,
    "beat" BIGINT NOT NULL,

    CONSTRAINT "replica_beat_pkey" PRIMARY KEY ("id")
);
