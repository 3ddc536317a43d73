import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@gateway/database/free-port';

const ANSWER_TEXT = 'The quick brown fox jumps over the lazy dog. '.repeat(16);

/** A plain chat completion of about 1 KB. */
export const PLAIN_ANSWER = JSON.stringify({
  id: 'chatcmpl-bench',
  object: 'chat.completion',
  created: 1_700_000_000,
  model: 'bench',
  choices: [
    { index: 0, message: { role: 'assistant', content: ANSWER_TEXT }, finish_reason: 'stop', logprobs: null },
  ],
  usage: { prompt_tokens: 200, completion_tokens: 180, total_tokens: 380 },
});

/** A native upstream that answers one body: a Node upstream would be the bottleneck. */
export interface NativeUpstream {
  url: string;
  close(): void;
}

function config(folder: string, port: number): string {
  const escaped = PLAIN_ANSWER.replaceAll("'", "\\'");
  return `daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log;
events { worker_connections 4096; }
http {
  access_log off; keepalive_requests 100000000; client_max_body_size 64m;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi; client_body_buffer_size 2m;
  server { listen 127.0.0.1:${port}; location / { default_type application/json; return 200 '${escaped}'; } }
}`;
}

/** Starts nginx on a free port; null where it is not installed. */
export async function startNginx(): Promise<NativeUpstream | null> {
  if (spawnSync('nginx', ['-v']).error) return null;
  const folder = mkdtempSync(join(tmpdir(), 'bench-nginx-'));
  const port = await freePort();
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, config(folder, port));
  const nginx: ChildProcess = spawn('nginx', ['-c', file, '-p', folder], { stdio: 'ignore' });
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      nginx.kill('SIGTERM');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
