import pg from 'pg';

/** Tables of LiteLLM's database by their real names, with the columns that an import reads; only specs make them. */
const TABLES = `
CREATE TABLE "LiteLLM_BudgetTable" (budget_id text PRIMARY KEY, max_budget double precision, soft_budget double precision,
  max_parallel_requests int, tpm_limit bigint, rpm_limit bigint, model_max_budget jsonb, budget_duration text);
CREATE TABLE "LiteLLM_OrganizationTable" (organization_id text PRIMARY KEY, organization_alias text NOT NULL,
  budget_id text NOT NULL, metadata jsonb NOT NULL DEFAULT '{}', models text[], spend double precision NOT NULL DEFAULT 0);
CREATE TABLE "LiteLLM_TeamTable" (team_id text PRIMARY KEY, team_alias text, organization_id text,
  metadata jsonb NOT NULL DEFAULT '{}', max_budget double precision, soft_budget double precision, models text[],
  max_parallel_requests int, tpm_limit bigint, rpm_limit bigint, budget_duration text, blocked boolean NOT NULL DEFAULT false);
CREATE TABLE "LiteLLM_UserTable" (user_id text PRIMARY KEY, user_email text, password text, sso_user_id text,
  max_budget double precision, budget_duration text);
CREATE TABLE "LiteLLM_VerificationToken" (token text PRIMARY KEY, key_name text, key_alias text, expires timestamp(3),
  models text[], aliases jsonb NOT NULL DEFAULT '{}', user_id text, team_id text, organization_id text,
  max_parallel_requests int, metadata jsonb NOT NULL DEFAULT '{}', blocked boolean, tpm_limit bigint, rpm_limit bigint,
  max_budget double precision, budget_duration text, budget_id text, model_max_budget jsonb NOT NULL DEFAULT '{}');
CREATE TABLE "LiteLLM_TagTable" (tag_name text PRIMARY KEY, budget_id text);
`;

const ROWS = `
INSERT INTO "LiteLLM_BudgetTable" (budget_id, max_budget, budget_duration, rpm_limit, soft_budget) VALUES
  ('b-org', 1000.1, '30d', 900, 800), ('b-key', 0.000001, '1d', NULL, NULL);
INSERT INTO "LiteLLM_OrganizationTable" (organization_id, organization_alias, budget_id, models) VALUES
  ('o-1', 'Research', 'b-org', '{}');
INSERT INTO "LiteLLM_TeamTable" (team_id, team_alias, organization_id, max_budget, budget_duration, models, tpm_limit, blocked) VALUES
  ('t-1', 'Search', 'o-1', 50, '7d', '{gpt}', 100000, false), ('t-2', 'Closed', NULL, 10, NULL, '{}', NULL, true);
INSERT INTO "LiteLLM_UserTable" (user_id, user_email, password, max_budget) VALUES ('u-1', 'ada@lab.example', 'planted-password', 5);
INSERT INTO "LiteLLM_VerificationToken"
  (token, key_name, key_alias, expires, models, team_id, metadata, blocked, rpm_limit, max_budget, budget_duration, budget_id, aliases) VALUES
  ('hash-1', 'sk-...aaaa', 'search-prod', '2099-01-01 00:00:00', '{gpt}', 't-1', '{"tags": ["prod", "squad:search"]}', NULL, 60, NULL, NULL, 'b-key', '{}'),
  ('hash-2', 'sk-...bbbb', 'free', NULL, '{}', NULL, '{}', true, NULL, 25, NULL, NULL, '{"fast": "gpt"}'),
  ('hash-3', 'sk-...cccc', 'gone', '2020-01-01 00:00:00', '{}', NULL, '{}', NULL, NULL, NULL, NULL, NULL, '{}'),
  ('hash-4', 'sk-...dddd', NULL, NULL, '{nothing-known}', 't-2', '{}', NULL, NULL, 3, '90d', NULL, '{}');
INSERT INTO "LiteLLM_TagTable" VALUES ('a', 'b-key'), ('b', NULL);
`;

/** Makes the tables in a schema of the database and fills them with four keys, two teams and an organization. */
export async function makeLiteLlmTables(url: string, schema = 'public'): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const name = pg.escapeIdentifier(schema);
    await client.query(`CREATE SCHEMA IF NOT EXISTS ${name}; SET search_path TO ${name}`);
    await client.query(TABLES);
    await client.query(ROWS);
  } finally {
    await client.end();
  }
}
