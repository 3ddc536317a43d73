-- CreateIndex
CREATE INDEX "api_key_routing_policy_template_id_idx" ON "api_key"("routing_policy_template_id");
