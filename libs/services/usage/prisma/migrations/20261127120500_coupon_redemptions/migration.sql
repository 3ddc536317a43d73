-- CreateTable
CREATE TABLE "coupon_redemption" (
    "code" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "coupon_redemption_pkey" PRIMARY KEY ("code","user_id")
);
