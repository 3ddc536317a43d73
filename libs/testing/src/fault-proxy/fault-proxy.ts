import { createServer, connect, type AddressInfo, type Socket } from 'node:net';
import { FaultyFlow, type FlowFaults } from './faulty-flow.js';

export interface Faults {
  /** Bytes from whoever connected towards the server behind. */
  toServer?: FlowFaults;
  /** Bytes of the server behind. */
  toClient?: FlowFaults;
  /** Fate of new connections: `reset` at once, or `hang`, which accepts and never answers. Default `pass`. */
  connect?: 'pass' | 'reset' | 'hang';
}

/** A TCP proxy on loopback that breaks what goes through it, when a test says so. */
export interface FaultProxy {
  readonly host: string;
  readonly port: number;
  /** `host:port`. */
  readonly address: string;
  /** Replaces all faults, for open connections and new ones; `{}` heals. */
  set(faults: Faults): void;
  /** Connections open now. */
  open(): number;
  /** Connections accepted since the start. */
  accepted(): number;
  /** Breaks every open connection: a reset of both sides. */
  resetAll(): void;
  close(): Promise<void>;
}

/** @param server where healthy bytes go, as `host:port` or as any URL that names a port */
export async function startFaultProxy(server: string): Promise<FaultProxy> {
  const target = new URL(server.includes('://') ? server : `tcp://${server}`);
  const pairs = new Set<Pair>();
  let faults: Faults = {};
  let accepted = 0;
  const proxy = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    accepted += 1;
    const pair = new Pair(client, () => faults, { host: target.hostname, port: Number(target.port) });
    pairs.add(pair);
    client.once('close', () => pairs.delete(pair));
  });
  await new Promise<void>((resolve, reject) => {
    proxy.once('error', reject);
    proxy.listen(0, '127.0.0.1', resolve);
  });
  const { port } = proxy.address() as AddressInfo;
  return {
    host: '127.0.0.1',
    port,
    address: `127.0.0.1:${port}`,
    set: (next) => {
      faults = next;
      for (const pair of pairs) pair.changed();
    },
    open: () => pairs.size,
    accepted: () => accepted,
    resetAll: () => {
      for (const pair of pairs) pair.reset();
    },
    close: async () => {
      const closed = new Promise((resolve) => proxy.close(resolve));
      for (const pair of pairs) pair.reset();
      await closed;
    },
  };
}

/** One connection of a client and, unless new ones are broken, its twin to the server. */
class Pair {
  private readonly server: Socket | undefined;
  private readonly flows: FaultyFlow[] = [];

  constructor(
    private readonly client: Socket,
    faults: () => Faults,
    target: { host: string; port: number },
  ) {
    client.on('error', () => undefined); // A reset is what this proxy is for; the flow passes it on.
    const { connect: onConnect = 'pass' } = faults();
    if (onConnect === 'reset') client.resetAndDestroy();
    if (onConnect !== 'pass') return;
    const server = connect({ ...target, allowHalfOpen: true, noDelay: true });
    server.on('error', () => undefined);
    this.server = server;
    this.flows = [
      new FaultyFlow(client, server, () => faults().toServer ?? {}),
      new FaultyFlow(server, client, () => faults().toClient ?? {}),
    ];
  }

  changed(): void {
    for (const flow of this.flows) flow.changed();
  }

  reset(): void {
    this.client.resetAndDestroy();
    this.server?.resetAndDestroy();
  }
}
