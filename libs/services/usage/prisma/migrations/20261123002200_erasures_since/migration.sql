-- CreateIndex
CREATE INDEX "erased_end_user_erased_at_idx" ON "erased_end_user"("erased_at");
