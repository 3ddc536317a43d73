-- CreateTable
CREATE TABLE "route_health" (
    "slot" TIMESTAMPTZ(3) NOT NULL,
    "provider" TEXT NOT NULL,
    "model_id" TEXT NOT NULL,
    "tries" INTEGER NOT NULL,
    "faults" INTEGER NOT NULL,
    "latency" INTEGER[],
    "speed" INTEGER[],

    CONSTRAINT "route_health_pkey" PRIMARY KEY ("slot","provider","model_id")
);
