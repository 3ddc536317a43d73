-- Videos that providers make for minutes.
CREATE TABLE video_tasks (
  id text PRIMARY KEY,
  key_id text NOT NULL,
  account_id text NOT NULL,
  org_id text,
  request_id text NOT NULL,
  model text NOT NULL,
  -- As it was asked for; removed when the task has ended, because it may hold pictures.
  body json,
  metadata json,
  status text NOT NULL,
  -- Where the provider has it, and how it calls it.
  credential text,
  provider_task_id text,
  -- Number of the unit that runs it: one that ended without an answer is followed by another.
  unit integer NOT NULL DEFAULT 0,
  object_key text,
  seconds double precision,
  error json,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  completed_at timestamptz,
  expires_at timestamptz NOT NULL,
  worker text,
  leased_until timestamptz
);
CREATE INDEX video_tasks_of_key ON video_tasks (key_id, created_at DESC, id DESC);
CREATE INDEX video_tasks_of_request ON video_tasks (key_id, request_id);
CREATE INDEX video_tasks_of_provider ON video_tasks (key_id, provider_task_id) WHERE provider_task_id IS NOT NULL;
CREATE INDEX video_tasks_open ON video_tasks (created_at) WHERE status IN ('queued', 'in_progress');
