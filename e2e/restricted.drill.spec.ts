import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repository } from '@gateway/testing';
import { startAllInOne } from './harness/all-in-one.js';
import { startFleet, type Fleet } from './harness/fleet.js';
import type { Gateway } from './harness/gateway.js';
import { START_MS } from './harness/modes.js';
import { ask } from './harness/requests.js';

/** One that no machine knows, as OpenShift gives each namespace. */
const USER = '1000680000';
const chat = { model: 'simulator/chat', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 16 };
/** Suite for root alone, who may give up rights and mount. */
const describeAsRoot = process.getuid?.() === 0 && process.platform === 'linux' ? describe : describe.skip;

function through(isNamed: boolean): string[] {
  const script = join(repository, 'e2e/harness/restrict.sh');
  return ['unshare', '--mount', 'bash', script, repository, USER, isNamed ? 'yes' : 'no'];
}

/** Rights of a process, and whether the root that it sees is read-only. */
function rightsOf(pid: number): object {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const of = (name: string): string | undefined => new RegExp(`^${name}:\\s+(.*)$`, 'm').exec(status)?.[1];
  const root = /^\S+ \/ \S+ (\S+)/m.exec(readFileSync(`/proc/${pid}/mounts`, 'utf8'))?.[1] ?? '';
  return {
    user: of('Uid')?.split('\t')[0],
    group: of('Gid')?.split('\t')[0],
    capabilities: `${of('CapEff')} ${of('CapBnd')}`,
    isReadOnly: root.split(',').includes('ro'),
  };
}
const RESTRICTED = {
  ...{ user: USER, group: '0', isReadOnly: true },
  capabilities: `${'0'.repeat(16)} ${'0'.repeat(16)}`,
};

/** A volume as the kubelet gives it: of group 0, which may write. */
function volume(...names: string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'restricted-'));
  for (const path of [folder, ...names.map((name) => join(folder, name))]) {
    mkdirSync(path, { recursive: true });
    chmodSync(path, 0o2775);
  }
  return folder;
}

async function serves(gateway: Gateway): Promise<void> {
  const { status } = await ask(gateway, 'POST', '/v1/chat/completions', { body: chat });
  expect(status).toBe(200);
  const body = new FormData();
  body.set('purpose', 'user_data');
  body.set('file', new Blob(['a line\n']), 'line.txt');
  const headers = { authorization: `Bearer ${gateway.key}` };
  expect((await fetch(`${gateway.url}/v1/files`, { method: 'POST', headers, body })).status).toBe(200);
}

describeAsRoot('under any user id of group 0, without capabilities, on a read-only root', () => {
  it(
    'operations 6: all six services start and serve',
    async () => {
      const folder = volume('journal', 'objects', 'mail');
      const at = (name: string): string => join(folder, name);
      const all = { JOURNAL_DIR: at('journal'), OBJECT_STORE_DIR: at('objects'), MAIL_DIR: at('mail') };
      let fleet: Fleet | undefined;
      try {
        fleet = await startFleet({ env: { all }, through: through(false) });
        for (const { pid } of fleet.processes.values()) expect(rightsOf(pid ?? 0)).toEqual(RESTRICTED);
        await serves(fleet);
      } finally {
        await fleet?.stop();
        rmSync(folder, { recursive: true });
      }
    },
    START_MS,
  );

  it(
    'operations 6: the all-in-one starts and serves where the container names its user, with its PostgreSQL',
    async () => {
      const dataDir = volume();
      const gateway = await startAllInOne({ dataDir, through: through(true) });
      try {
        expect(rightsOf(gateway.edgePid)).toEqual(RESTRICTED);
        await serves(gateway);
      } finally {
        await gateway.stop();
        rmSync(dataDir, { recursive: true });
      }
    },
    START_MS,
  );
});
