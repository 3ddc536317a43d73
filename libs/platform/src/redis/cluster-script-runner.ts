import type { Clock } from '@gateway/contracts';
import type { LimitScript, ScriptRunner } from '@gateway/limits';
import type { Cluster, Redis } from 'ioredis';
import { hashSlot } from './hash-slot.js';

const REFRESH_MS = 250;

/**
 * Scripts over a Redis Cluster: to the master of the first key's slot, each with the run id of that very node. A call
 * that a node refuses with MOVED is not sent to another one, because it carries the identity of the first.
 */
export class ClusterScriptRunner<Runner extends ScriptRunner> implements ScriptRunner {
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

  close(): void {
    for (const { node } of [...this.nodes.values()]) this.remove(node);
  }

  private runnerOf(key: string): Runner {
    const master = this.cluster.slots[hashSlot(key)]?.[0];
    const known = master === undefined ? undefined : this.nodes.get(master);
    if (known !== undefined) return known.runner;
    this.refresh();
    throw new Error('No connected master serves this key.');
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
