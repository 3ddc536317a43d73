import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { parse } from 'yaml';
import { ComposeProject } from './compose.js';
import { repositoryRoot } from './repository.js';

const APPS = ['edge', 'catalogue', 'keys', 'usage', 'notifications', 'workers'];

describe('ComposeProject', () => {
  const path = process.env['PATH'] ?? '';
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'gw-docker-'));
    process.env['PATH'] = `${folder}${delimiter}${path}`;
  });
  afterEach(() => {
    process.env['PATH'] = path;
    rmSync(folder, { recursive: true });
  });

  /** Stands in for the docker program, which a machine without an engine cannot offer: it notes how it is called. */
  function docker(onInfo: string): void {
    const script = `#!/bin/sh\necho "$REDIS_PORT $*" >> ${folder}/calls\nif [ "$1" = info ]; then ${onInfo}; fi\n`;
    writeFileSync(join(folder, 'docker'), script, { mode: 0o755 });
  }
  const calls = (): string[] => readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n');

  it('is not chosen without an engine', async () => {
    docker('exit 1');
    expect(await new ComposeProject('gw-spec').isAvailable()).toBe(false);
  });

  it('is not chosen when the engine does not answer in two seconds', async () => {
    docker('exec sleep 600');
    const started = performance.now();
    expect(await new ComposeProject('gw-spec').isAvailable()).toBe(false);
    const waitedMs = performance.now() - started;
    expect(waitedMs).toBeGreaterThan(1_900);
  });

  it('starts a server on a port of its own and removes the project at the end', async () => {
    docker('echo 28.2.2');
    const project = new ComposeProject('gw-spec');
    expect(await project.isAvailable()).toBe(true);
    const { address } = await project.start('redis');
    await project.down();
    const port = new URL(address).port;
    const file = join(repositoryRoot, 'docker-compose.yml');
    expect(calls().slice(2)).toEqual([
      `${port} compose --project-name gw-spec --file ${file} up --detach --wait --no-deps redis`,
      `${port} compose --project-name gw-spec --file ${file} down --volumes --timeout 0`,
    ]);
  });

  it('touches nothing at the end when it started nothing', async () => {
    docker('echo 28.2.2');
    const project = new ComposeProject('gw-spec');
    await project.isAvailable();
    await project.down();
    expect(calls()).toHaveLength(2);
  });
});

describe('docker-compose.yml', () => {
  const file = parse(readFileSync(join(repositoryRoot, 'docker-compose.yml'), 'utf8'), { merge: true }) as {
    services: Record<string, { build?: { args: { APP: string } }; ports?: string[]; environment?: object }>;
  };

  it('holds the three servers, the topics and every service of the fleet', () => {
    const names = Object.keys(file.services);
    expect(names.sort()).toEqual([...APPS, 'kafka', 'postgres', 'redis', 'topics', 'upstream-sim'].sort());
    for (const app of APPS) expect(file.services[app].build?.args.APP).toBe(app);
  });

  it('opens ports on 127.0.0.1 only', () => {
    const ports = Object.values(file.services).flatMap((service) => service.ports ?? []);
    expect(ports).toHaveLength(4);
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
  });

  it('gives every service the addresses of the servers', () => {
    for (const app of APPS) {
      expect(Object.keys(file.services[app].environment ?? {})).toEqual(
        expect.arrayContaining(['DATABASE_URL', 'REDIS_URL', 'KAFKA_BROKERS']),
      );
    }
  });
});
