// Run from the build by one-completion.spec.ts: prints which files and functions of the build one completion runs.
import 'reflect-metadata';
import { Session, type Profiler } from 'node:inspector/promises';
import { hello, startEdge, type EdgeUnderTest } from './edge.fixture.js';

/** The functions that ran for one request: how often each named function of each file was called. */
export type Footprint = Record<string, Record<string, number>>;

/** V8 has compiled what it compiles lazily, and caches are warm. */
const WARM_UP_REQUESTS = 20;
/** Timers run now and then: only what every one of these ran belongs to a request. */
const MEASURED_REQUESTS = 60;
/** Functions of timers: where the machine is slow they run beside every request. */
const OF_TIMERS = new Set(['schedule', 'fire', 'setTimer']);
const OF_THE_TEST = /\/libs\/(?:simulator|testing)\/|\.fixture\.js$/;

function footprint(scripts: readonly Profiler.ScriptCoverage[]): Footprint {
  const files: Footprint = {};
  for (const { url, functions } of scripts) {
    const file = url.split('/dist/')[1];
    if (file === undefined || url.includes('/node_modules/') || OF_THE_TEST.test(url)) continue;
    const ran = functions.filter(({ ranges }) => ranges[0].count > 0);
    if (ran.length === 0) continue;
    // A function without a name stands in one that has a name, and is counted with it.
    const named = ran.filter(({ functionName }) => functionName !== '' && !OF_TIMERS.has(functionName));
    files[file] = Object.fromEntries(
      named.map(({ functionName, ranges }) => [functionName, ranges[0].count]),
    );
  }
  return files;
}

/** Returns what both have, with counts of the first. */
function common(a: Footprint, b: Footprint): Footprint {
  const files: Footprint = {};
  for (const [file, functions] of Object.entries(a)) {
    if (!(file in b)) continue;
    files[file] = Object.fromEntries(Object.entries(functions).filter(([name]) => name in b[file]));
  }
  return files;
}

async function ask(edge: EdgeUnderTest, stream: boolean): Promise<{ answer: Response; text: string }> {
  const answer = await edge.post(hello('simulator/chat', { stream }));
  return { answer, text: await answer.text() };
}

async function measured(edge: EdgeUnderTest, session: Session, stream: boolean): Promise<Footprint> {
  for (let n = 0; n < WARM_UP_REQUESTS; n += 1) await ask(edge, stream);
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  let found: Footprint | null = null;
  for (let n = 0; n < MEASURED_REQUESTS; n += 1) {
    await session.post('Profiler.takePreciseCoverage');
    const { answer } = await ask(edge, stream);
    const { result } = await session.post('Profiler.takePreciseCoverage');
    // Its record is shipped behind the answer, which would run beside the next request.
    await edge.record(answer);
    const one = footprint(result);
    found = found === null ? one : common(found, one);
  }
  await session.post('Profiler.stopPreciseCoverage');
  return found ?? {};
}

const edge = await startEdge();
const session = new Session();
session.connect();
await session.post('Profiler.enable');
const plain = await measured(edge, session, false);
const streamed = await measured(edge, session, true);
const frames = (await ask(edge, true)).text
  .split('\n\n')
  .filter((frame) => frame.startsWith('data: {')).length;
session.disconnect();
await edge.close();
process.stdout.write(`${JSON.stringify({ plain, streamed, frames })}\n`);
