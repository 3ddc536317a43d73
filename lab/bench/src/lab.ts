import { startBefore } from './before.js';
import { startFleet, type Fleet } from './fleet.js';
import { startNginx } from './nginx.js';
import type { Options } from './options.js';
import { startPortkey } from './portkey.js';
import { childrenOf } from './proc.js';
import { start } from './processes.js';
import { startStampedUpstream, type StampedUpstream } from './stream-upstream.js';

/** A program under measurement. */
export interface Target {
  /** `baseline`, `gateway`, `before` for the gateway of --against, or the name of a peer. */
  name: string;
  url: string;
  key: string;
  plainModel: string;
  streamModel: string;
  /** Headers that a peer needs beside the credential, of plain requests and of streams. */
  plainHeaders?: Readonly<Record<string, string>>;
  streamHeaders?: Readonly<Record<string, string>>;
  /** null for a peer that somebody else has started. */
  pid: number | null;
  /** All processes that run for it alone, its servers included: their time is not another target's. */
  family: readonly number[];
}

/** The programs that run while rows are measured, all before the same upstreams. */
export interface Lab {
  options: Options;
  fleet: Fleet;
  /** The baseline first, then the gateway, then the others: rounds go through them in turn. */
  targets: readonly Target[];
  baseline: Target;
  gateway: Target;
  streams: StampedUpstream;
  /** A sentence where a Node program stands in for a native one; empty otherwise. */
  caution: string;
}

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
  /** Starts something that ends with the lab, and records which processes it brought. */
  const open = async <T>(
    starting: Promise<T>,
    end: (started: T) => void | Promise<void>,
  ): Promise<{ started: T; family: number[] }> => {
    const before = new Set(childrenOf(process.pid));
    const started = await starting;
    closers.push(() => end(started));
    return { started, family: childrenOf(process.pid).filter((pid) => !before.has(pid)) };
  };
  try {
    const { started: streams } = await open(startStampedUpstream(), (upstream) => upstream.close());
    const { started: native } = await open(startNginx(), (upstream) => upstream?.close());
    const upstreams = { plain: native?.url ?? streams.url, streams: streams.url };
    const models = { plainModel: 'simulator/chat', streamModel: 'openai/gpt-4o-mini' };
    const proxy = await open(startBaseline(upstreams), (program) => program.stop());
    const baseline: Target = {
      ...{ name: 'baseline', url: proxy.started.ready[1], key: 'none', pid: proxy.started.pid },
      ...models,
      family: proxy.family,
    };
    const current = await open(startFleet(upstreams, edgeArgs), (fleet) => fleet.stop());
    const gateway = gatewayOf('gateway', current.started, current.family);
    const targets = [baseline, gateway];
    if (options.against !== null) {
      const other = await open(startBefore(options.against, upstreams), (fleet) => fleet.stop());
      targets.push(gatewayOf('before', other.started, other.family));
    }
    for (const { name, url, key, model } of options.peers) {
      const common = { name, key, plainModel: model, streamModel: model };
      if (url === null) {
        const { started, family } = await open(startPortkey(upstreams), ({ program }) => program.stop());
        const { program, ...portkey } = started;
        targets.push({ ...common, ...portkey, pid: program.pid, family });
      } else {
        targets.push({ ...common, url, pid: null, family: [] });
      }
    }
    const caution = native ? '' : 'nginx is not installed: a Node upstream takes part of the processor';
    return { lab: { options, fleet: current.started, targets, baseline, gateway, streams, caution }, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function gatewayOf(
  name: string,
  { url, key, edgePid: pid }: Pick<Fleet, 'url' | 'key' | 'edgePid'>,
  family: number[],
): Target {
  return { name, url, key, pid, plainModel: 'simulator/chat', streamModel: 'openai/gpt-4o-mini', family };
}

function startBaseline({ plain, streams }: { plain: string; streams: string }): ReturnType<typeof start> {
  return start({
    args: ['dist/lab/bench/src/baseline.js', '--upstream', plain, '--streams', streams],
    readyWhen: /"url":"([^"]+)"/,
  });
}
