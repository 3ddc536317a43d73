import { startFleet, type Fleet } from './fleet.js';
import { load, type LoadFigures } from './load.js';
import { startNginx } from './nginx.js';
import type { Options } from './options.js';
import { start } from './processes.js';
import { startStampedUpstream, type StampedUpstream } from './stream-upstream.js';
import { mainThreadSeconds, memoryMiB, processorSeconds } from './proc.js';

/** A program under measurement. */
export interface Target {
  /** `baseline`, `gateway` or the name of a peer. */
  name: string;
  url: string;
  key: string;
  plainModel: string;
  streamModel: string;
  /** null for a peer: it is started by somebody else. */
  pid: number | null;
}

/** What is up while rows are measured: both proxies before the same upstreams. */
export interface Lab {
  options: Options;
  fleet: Fleet;
  /** The baseline first, then the gateway, then peers: rounds go through them in turn. */
  targets: readonly Target[];
  baseline: Target;
  gateway: Target;
  streams: StampedUpstream;
  /** A sentence where a Node program stands in for a native one; empty otherwise. */
  caution: string;
}

const WARM_UP_ROUND_SECONDS = 4;
const IS_STABLE = 0.05;

/** A chat request of about so many bytes. */
export function chatBody(model: string, bytes: number): string {
  const filler = 'All good things come in small packages. ';
  const bare = JSON.stringify({ model, messages: [{ role: 'user', content: '' }] }).length;
  const content = filler.repeat(Math.ceil(bytes / filler.length)).slice(0, Math.max(1, bytes - bare));
  return JSON.stringify({ model, messages: [{ role: 'user', content }] });
}

export async function openLab(
  options: Options,
  edgeArgs: string[] = [],
): Promise<{ lab: Lab; close: () => Promise<void> }> {
  const closers: (() => void | Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  try {
    const streams = await startStampedUpstream();
    closers.push(() => streams.close());
    const native = await startNginx();
    if (native) closers.push(() => native.close());
    const plain = native?.url ?? streams.url;
    const proxy = await start({
      args: ['dist/tools/bench/src/baseline.js', '--upstream', plain, '--streams', streams.url],
      readyWhen: /"url":"([^"]+)"/,
    });
    closers.push(() => proxy.stop());
    const fleet = await startFleet({ plain, streams: streams.url }, edgeArgs);
    closers.push(() => fleet.stop());
    const models = { plainModel: 'simulator/chat', streamModel: 'openai/gpt-4o-mini' };
    const baseline = { name: 'baseline', url: proxy.ready[1], key: 'none', pid: proxy.pid, ...models };
    const { url, key, edgePid: pid } = fleet;
    const gateway: Target = { name: 'gateway', url, key, pid, ...models };
    const peers = options.peers.map(({ model, ...peer }) => ({
      ...peer,
      plainModel: model,
      streamModel: model,
      pid: null,
    }));
    const targets = [baseline, gateway, ...peers];
    const caution = native ? '' : 'nginx is not installed: a Node upstream takes part of the processor';
    return { lab: { options, fleet, targets, baseline, gateway, streams, caution }, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Loads until two rounds in a row are alike, at most as long as the options say: compiled code comes late. */
export async function warmUp({ options }: Lab, target: Target, body: string): Promise<number> {
  let before = 0;
  for (let warmed = 0; warmed < options.warmUpSeconds; warmed += WARM_UP_ROUND_SECONDS) {
    const { requestsPerSecond } = await loadOn(target, body, 16, WARM_UP_ROUND_SECONDS);
    const isStable = Math.abs(requestsPerSecond - before) <= requestsPerSecond * IS_STABLE;
    if (isStable && before > 0) return warmed + WARM_UP_ROUND_SECONDS;
    before = requestsPerSecond;
  }
  return options.warmUpSeconds;
}

/** One load; answers that are errors end the run, because nothing is measured by them. */
export async function loadOn(
  { name, url, key }: Pick<Target, 'name' | 'url' | 'key'>,
  body: string,
  connections: number,
  seconds: number,
  keys: readonly string[] = [key],
): Promise<LoadFigures> {
  const figures = await load({ url, keys, body, connections, seconds });
  if (figures.errors > 0) {
    throw new Error(`${name}: ${figures.errors} answers were errors, so nothing was measured`);
  }
  return figures;
}

/** One load with what it cost the program, in microseconds of processor time per request. */
export async function costOn(
  target: Target,
  body: string,
  seconds: number,
  keys?: readonly string[],
): Promise<LoadFigures & { mainUs: number; processUs: number; memoryMiB: number }> {
  const { pid } = target;
  const before = spent(pid);
  const figures = await loadOn(target, body, 16, seconds, keys);
  const after = spent(pid);
  const requests = figures.requestsPerSecond * seconds;
  return {
    ...figures,
    mainUs: ((after.main - before.main) / requests) * 1e6,
    processUs: ((after.all - before.all) / requests) * 1e6,
    memoryMiB: pid === null ? Number.NaN : memoryMiB(pid),
  };
}

function spent(pid: number | null): { main: number; all: number } {
  if (pid === null) return { main: Number.NaN, all: Number.NaN };
  return { main: mainThreadSeconds(pid), all: processorSeconds(pid) };
}
