import type { Clock } from '@gateway/contracts';
import type { LimitScript, ScriptRunner } from '@gateway/limits';
import type { Cluster, Redis } from 'ioredis';
import { hashSlot } from './hash-slot.js';

const REFRESH_MS = 250;
const TAGS_TRIED = 1_000;

type NodeRunner = ScriptRunner & { isAway(key: string): boolean };

/**
 * Scripts over a Redis Cluster: to the master of the first key's slot, each with the run id of that very node. A call
 * that a node refuses with MOVED is not sent to another one, because it carries the identity of the first.
 */
export class ClusterScriptRunner<Runner extends NodeRunner> implements ScriptRunner {
  private readonly nodes = new Map<string, { node: Redis; runner: Runner }>();
  private refreshedAt = -Infinity;

  constructor(
    private readonly cluster: Cluster,
    private readonly clock: Clock,
    private readonly follow: { begin: (node: Redis) => Runner; end: (runner: Runner) => void },
  ) {
    cluster.on('+node', (node: Redis) => this.add(node));
    cluster.on('-node', (node: Redis) => this.remove(node));
    for (const node of cluster.nodes('all')) this.add(node);
  }

  runId(key: string): string {
    return this.runnerOf(key).runId(key);
  }

  async run(script: LimitScript, keys: string[], args: (string | Buffer)[]): Promise<string | Buffer | null> {
    try {
      return await this.runnerOf(keys[0]).run(script, keys, args);
    } catch (error) {
      if (error instanceof Error && /^(MOVED|ASK|CLUSTERDOWN|READONLY) /.test(error.message)) this.refresh();
      throw error;
    }
  }

  isAway(key: string): boolean {
    const isAway = this.known(key)?.isAway(key) ?? true;
    // Its place may have been taken by another node.
    if (isAway) this.refresh();
    return isAway;
  }

  /** One for each master, found by trying: as many as masters, so few that a collision costs nothing. */
  tags(): string[] {
    const masters = new Map<string, string>();
    const count = new Set(this.cluster.slots.map((nodes) => nodes?.[0])).size;
    for (let n = 0; n < TAGS_TRIED && masters.size < count; n += 1) {
      const master = this.cluster.slots[hashSlot(`acct:{acct_watch-${n}}`)]?.[0];
      if (master !== undefined && !masters.has(master)) masters.set(master, String(n));
    }
    return [...masters.values()];
  }

  close(): void {
    for (const { node } of [...this.nodes.values()]) this.remove(node);
  }

  private runnerOf(key: string): Runner {
    const known = this.known(key);
    if (known !== undefined) return known;
    this.refresh();
    throw new Error('No connected master serves this key.');
  }

  private known(key: string): Runner | undefined {
    const master = this.cluster.slots[hashSlot(key)]?.[0];
    return master === undefined ? undefined : this.nodes.get(master)?.runner;
  }

  private refresh(): void {
    const now = this.clock.monotonic();
    if (now - this.refreshedAt < REFRESH_MS) return;
    this.refreshedAt = now;
    this.cluster.refreshSlotsCache();
  }

  private add(node: Redis): void {
    const name = nameOf(node);
    const former = this.nodes.get(name);
    if (former !== undefined) this.remove(former.node);
    this.nodes.set(name, { node, runner: this.follow.begin(node) });
    // The pool connects a node at its first command, which would wait for the run id for ever.
    if (node.status === 'wait') node.connect().catch(() => this.refresh());
  }

  private remove(node: Redis): void {
    const name = nameOf(node);
    const known = this.nodes.get(name);
    // A node that was replaced under its name ends after its successor came.
    if (known?.node !== node) return;
    this.follow.end(known.runner);
    this.nodes.delete(name);
  }
}

/** As the cluster's slots name it. */
function nameOf(node: Redis): string {
  return `${node.options.host ?? ''}:${node.options.port ?? ''}`;
}
