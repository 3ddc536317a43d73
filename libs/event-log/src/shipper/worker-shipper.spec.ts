import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { fixedClock, eventually } from '@gateway/testing/plain';
import { SystemClock } from '@gateway/platform';
import { WorkerShipper } from './worker-shipper.js';

const live = {
  ...{ producer: 'edge-0', epoch: 'e1', folder: '/none', lastSeq: 0, gaps: [] },
  position: { segment: 1, offset: 0, seq: 0 },
};
const dead = { producer: 'edge-0', epoch: 'e0', folder: '/none', position: null, lastSeq: 7, gaps: [] };

describe('WorkerShipper', () => {
  let folder: string;
  let shipper: WorkerShipper | null = null;
  const faults: string[] = [];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'worker-shipper-'));
    faults.length = 0;
  });
  afterEach(async () => {
    await shipper?.stop();
    shipper = null;
    rmSync(folder, { recursive: true, force: true });
  });

  const watermarks: string[] = [];
  /** A thread that runs this text; `port` is its parent's and `note` writes a line to the file `heard`. */
  function start(program: string, clock = new SystemClock()): WorkerShipper {
    const entry = join(folder, 'worker.mjs');
    writeFileSync(
      entry,
      `import { appendFileSync } from 'node:fs';
       import { parentPort as port } from 'node:worker_threads';
       const note = (line) => appendFileSync(${JSON.stringify(join(folder, 'heard'))}, line + '\\n');
       ${program}`,
    );
    shipper = new WorkerShipper({
      ...{ kafka: { brokers: [] }, clientId: 'spec', clock, entry: pathToFileURL(entry) },
      watermark: () => Promise.resolve(0),
      events: {
        watermark: (producer, epoch, seq) => void watermarks.push(`${producer}/${epoch} ${seq}`),
        alarm: () => undefined,
      },
      onFault: (error) => void faults.push(String(error)),
    });
    return shipper;
  }
  const heard = (): string[] => readFileSync(join(folder, 'heard'), 'utf8').trim().split('\n');

  it('reports what is left where its thread never ran, and ends all the same', async () => {
    const clock = fixedClock('2026-11-01T00:00:00Z');
    const stuck = start('for (;;);', clock);
    stuck.addSource(dead);
    stuck.addSource(live);
    stuck.mayShip({ segment: 1, offset: 900, seq: 5 });
    const left = stuck.drain(1_000);
    await clock.advance(10_000);
    expect(await left).toBe(12);
    const stopped = stuck.stop();
    await clock.advance(10_000);
    await stopped;
  });

  it('answers what its thread says is left', async () => {
    const answering = start(
      `port.on('message', (order) => {
         if (order.kind === 'drain') port.postMessage({ kind: 'done', id: order.id, left: 3 });
         if (order.kind === 'stop') port.postMessage({ kind: 'done', id: order.id, left: 3 });
       });`,
    );
    answering.addSource(live);
    expect(await answering.drain(5_000)).toBe(3);
  });

  it('replaces a thread that died, and sends the new one every source that is not finished and the newest position', async () => {
    const replaced = start(
      `port.on('message', (order) => {
         note(JSON.stringify(order));
         if (order.kind === 'source' && order.source.epoch === 'e0')
           port.postMessage({ kind: 'watermark', producer: 'edge-0', epoch: 'e0', seq: 7 });
         if (order.kind === 'may_ship' && order.position.seq === 5) process.exit(1);
         if (order.kind === 'stop') port.postMessage({ kind: 'done', id: order.id, left: 0 });
       });`,
    );
    replaced.addSource(dead);
    replaced.addSource(live);
    await eventually(() => watermarks.includes('edge-0/e0 7'));
    replaced.mayShip({ segment: 1, offset: 900, seq: 5 });
    await eventually(() => faults.length > 0);
    replaced.mayShip({ segment: 1, offset: 1_000, seq: 6 });
    await eventually(() => heard().some((line) => line.includes('"seq":6')));
    const sources = heard().filter((line) => line.includes('"kind":"source"'));
    expect(sources.map((line) => /"epoch":"(e\d)"/.exec(line)?.[1])).toEqual(['e0', 'e1', 'e1']);
  });
});
