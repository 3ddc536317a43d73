import type { Clock } from '@gateway/contracts';
import type { Answered, LimitScript, PreparedScript, ScriptPipe } from '@gateway/limits';
import type { Cluster, Redis } from 'ioredis';
import { hashSlot } from './hash-slot.js';
import type { RedisPipe } from './redis-pipe.js';
import { ScriptText } from './script-text.js';

const REFRESH_MS = 250;
const TAGS_TRIED = 1_000;

/**
 * Scripts over a Redis Cluster: to the master of the first key's slot, each with the run id of that very node. A call
 * that a node refuses with MOVED is not sent to another one, because it carries the identity of the first.
 */
export class ClusterPipe implements ScriptPipe {
  private readonly nodes = new Map<string, { node: Redis; pipe: RedisPipe }>();
  private refreshedAt = -Infinity;

  constructor(
    private readonly cluster: Cluster,
    private readonly clock: Clock,
    private readonly pipeOf: (node: Redis) => RedisPipe,
  ) {
    cluster.on('+node', (node: Redis) => this.add(node));
    cluster.on('-node', (node: Redis) => this.remove(node));
    for (const node of cluster.nodes('all')) this.add(node);
  }

  prepare(script: LimitScript, keys: readonly string[], last: readonly string[]): ScriptText {
    return new ScriptText(script, keys, last);
  }

  nodeOf(key: string): string | null {
    const node = this.known(key)?.nodeOf() ?? null;
    // Its place may have been taken by another node.
    if (node === null) this.refresh();
    return node;
  }

  hashSlotOf(key: string): number {
    return hashSlot(key);
  }

  send(call: PreparedScript, args: readonly string[], answered: Answered): void {
    const pipe = this.known(call.key);
    if (pipe === undefined)
      return answered(new Error('No connected master serves this key.'), Buffer.alloc(0));
    pipe.send(call, args, (failure, answer) => {
      if (failure !== null && /^(MOVED|ASK|CLUSTERDOWN|READONLY) /.test(failure.message)) this.refresh();
      answered(failure, answer);
    });
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

  private known(key: string): RedisPipe | undefined {
    const master = this.cluster.slots[hashSlot(key)]?.[0];
    return master === undefined ? undefined : this.nodes.get(master)?.pipe;
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
    this.nodes.set(name, { node, pipe: this.pipeOf(node) });
    // The pool connects a node at its first command, which would wait for the run id for ever.
    if (node.status === 'wait') node.connect().catch(() => this.refresh());
  }

  private remove(node: Redis): void {
    const name = nameOf(node);
    const known = this.nodes.get(name);
    // A node that was replaced under its name ends after its successor came.
    if (known?.node !== node) return;
    known.pipe.close();
    this.nodes.delete(name);
  }
}

/** Returns the node's name as the cluster's slots have it. */
function nameOf(node: Redis): string {
  return `${node.options.host ?? ''}:${node.options.port ?? ''}`;
}
