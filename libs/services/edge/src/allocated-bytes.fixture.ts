// Run from the build by one-completion.spec.ts: prints the bytes that one completion allocates, by file of the build.
import 'reflect-metadata';
import { Session, type HeapProfiler } from 'node:inspector/promises';
import { hello, startEdge, type EdgeUnderTest } from './edge.fixture.js';

/** V8 has compiled what is hot: its code allocates less than the interpreter does. */
const WARM_UP_REQUESTS = 300;
const MEASURED_REQUESTS = 100;
/** Mean distance of two samples in bytes: a request of 50 KB has some 100, and all together are within 1 %. */
const SAMPLE_BYTES = 512;
const OF_THE_TEST = /\/libs\/(?:simulator|testing)\/|\.fixture\.js$/;

/** Adds what was allocated below a node to the file of the build that is nearest above it; what none called is not ours. */
function addTo(
  files: Map<string, number>,
  node: HeapProfiler.SamplingHeapProfileNode,
  above: string | null,
): void {
  const { url } = node.callFrame;
  const file = url.includes('/node_modules/') ? undefined : url.split('/dist/')[1];
  const owner = file === undefined ? above : OF_THE_TEST.test(url) ? null : file;
  if (owner !== null) files.set(owner, (files.get(owner) ?? 0) + node.selfSize);
  for (const child of node.children) addTo(files, child, owner);
}

async function ask(edge: EdgeUnderTest, stream: boolean, requests: number): Promise<void> {
  for (let n = 0; n < requests; n += 1) await (await edge.post(hello('simulator/chat', { stream }))).text();
}

/** Returns bytes for each request, by file, the most first. */
async function measured(edge: EdgeUnderTest, session: Session, stream: boolean): Promise<[string, number][]> {
  await ask(edge, stream, WARM_UP_REQUESTS);
  await session.post('HeapProfiler.startSampling', {
    samplingInterval: SAMPLE_BYTES,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  });
  await ask(edge, stream, MEASURED_REQUESTS);
  const { profile } = await session.post('HeapProfiler.stopSampling');
  const files = new Map<string, number>();
  addTo(files, profile.head, null);
  return [...files]
    .map(([file, bytes]): [string, number] => [file, Math.round(bytes / MEASURED_REQUESTS)])
    .sort(([, a], [, b]) => b - a);
}

const edge = await startEdge();
const session = new Session();
session.connect();
const plain = await measured(edge, session, false);
const streamed = await measured(edge, session, true);
session.disconnect();
await edge.close();
process.stdout.write(`${JSON.stringify({ plain, streamed })}\n`);
